//! The packed entry: a key and everything about it in one allocation.
//!
//! ```text
//! | head 4 | key length 1 or 4 | key | extras | expiry 0, 6 or 8 | length 0, 1 or 4 | content ... | free |
//!   |                                                              |                                   ^ class
//!   form, marks, touched, widths of the others                     of the content; a value has none, it is aligned
//!
//! extras   | lead 1 | flags 0 or 4 | cas 0 or 8 |      only where a protocol keeps them; `lead` has the widths
//! ```
//!
//! Key, extras and expiry precede the content, so that a string grows in place at its end, up to the size class.
//! The class follows from the lengths, so no capacity is stored.

use base::primitives::note_write;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::{NonNull, copy_nonoverlapping};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32};

use base::Ms;

use crate::shape::{Expiry, Form, KEY_LENGTH_AT, Shape, extras_of_lead, has_extras, head, int_of, key_at, lead};
use crate::{Content, Extras, Fields, NewContent, OwnedEntry, size};

/// A read-only view of a key with its content, expiry and marks. A pointer, cheap to copy.
///
/// It is a handle rather than a reference because it reads a number of bytes that no Rust type expresses.
pub struct Entry<'a, V> {
    raw: Raw<V>,
    alive: PhantomData<&'a V>,
}

impl<'a, V> Entry<'a, V> {
    /// # Safety
    /// `raw` is alive and nobody changes it during `'a`, except for `touched`.
    pub(crate) unsafe fn new(raw: Raw<V>) -> Self {
        Self { raw, alive: PhantomData }
    }

    /// Returns the key.
    pub fn key(&self) -> &'a [u8] {
        // SAFETY: alive and unchanged during 'a.
        unsafe { self.raw.key() }
    }

    /// Returns the content.
    #[inline]
    pub fn content(&self) -> Content<'a, V> {
        // SAFETY: alive and unchanged during 'a.
        unsafe { self.raw.content() }
    }

    /// Returns the value; `None` if the content is a string. Cheaper than [`Entry::content`].
    #[inline]
    pub fn value(&self) -> Option<&'a V> {
        let is_value = Form::of_head(self.head().load(Relaxed)) == Form::Value;
        // SAFETY: alive and unchanged during 'a, and of that form.
        is_value.then(|| unsafe { &*self.raw.value() })
    }

    /// Returns the key's expiry time; `None` if it never expires.
    pub fn expires_at_ms(&self) -> Option<Ms> {
        // SAFETY: alive and unchanged during 'a.
        unsafe { self.raw.expires_at_ms() }
    }

    /// Returns the extras of a protocol, if any.
    pub fn extras(&self) -> Option<Extras> {
        // SAFETY: alive and unchanged during 'a, except for signs that readers set.
        unsafe { self.raw.extras() }
    }

    /// Returns expiry and extras.
    pub fn fields(&self) -> Fields {
        Fields { expires_at_ms: self.expires_at_ms(), extras: self.extras() }
    }

    /// Sets one of the four signs (by its bit) in the extras. Returns true if it was new, to only one of concurrent
    /// readers. Does nothing without extras.
    pub fn give_sign(&self, sign: u8) -> bool {
        assert!(sign < 16);
        let bit = sign << lead::SIGNS_SHIFT;
        // SAFETY: alive and unchanged during 'a, except for the atomic changes made here.
        let lead = unsafe { self.raw.lead() };
        lead.filter(|lead| lead.load(Relaxed) & bit != bit).is_some_and(|lead| {
            note_write(lead);
            lead.fetch_or(bit, Relaxed) & bit != bit
        })
    }

    /// Returns the three checkpoint marks.
    pub fn marks(&self) -> u8 {
        ((self.head().load(Relaxed) & head::MARKS_MASK) >> head::MARKS_SHIFT) as u8
    }

    /// Returns the time of the last [`Entry::touch`]: the low 24 bits of seconds.
    pub fn touched(&self) -> u32 {
        self.head().load(Relaxed) & head::TOUCHED_MASK
    }

    /// Sets the touch time to the low 24 bits of `now_seconds`; writes only on change, so that readers share the cache
    /// line.
    pub fn touch(&self, now_seconds: u32) {
        let before = self.head().load(Relaxed);
        let after = before & !head::TOUCHED_MASK | now_seconds & head::TOUCHED_MASK;
        if before != after {
            note_write(self.head());
            // Readers that touch concurrently write the same other bits: those change only under exclusive access.
            self.head().store(after, Relaxed);
        }
    }

    /// Returns the bytes of the entry's allocation, without what a value owns elsewhere.
    pub fn heap_bytes(&self) -> usize {
        // SAFETY: alive and unchanged during 'a.
        unsafe { self.raw.shape() }.allocation_bytes()
    }

    /// Returns a copy of the whole entry, including marks and touched.
    pub fn copy_out(&self) -> OwnedEntry<V>
    where
        V: Clone,
    {
        let content = match self.content() {
            Content::Bytes(bytes) => NewContent::Bytes(bytes),
            Content::Int(int) => NewContent::Int(int),
            Content::Value(value) => NewContent::Value(value.clone()),
        };
        let raw = Raw::create(self.key(), &self.fields(), content);
        // SAFETY: alive and known to nobody else. The head depends only on properties that both share.
        unsafe {
            raw.head().store(self.head().load(Relaxed), Relaxed);
            OwnedEntry::new(raw)
        }
    }

    fn head(&self) -> &'a AtomicU32 {
        // SAFETY: alive during 'a; the head is only read and written as an atomic.
        unsafe { self.raw.head() }
    }
}

impl<V> Clone for Entry<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Entry<'_, V> {}

// SAFETY: an entry gives out `&V` and otherwise reads plain bytes; its writes are atomic.
unsafe impl<V: Sync> Send for Entry<'_, V> {}
// SAFETY: as above.
unsafe impl<V: Sync> Sync for Entry<'_, V> {}

/// The address of an entry's allocation, without ownership.
///
/// "Alive" below: created by [`Raw::create`], or by [`Raw::allocate`] and writes of all parts; not yet freed.
pub(crate) struct Raw<V> {
    at: NonNull<u8>,
    kind: PhantomData<*const V>,
}

impl<V> Clone for Raw<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Raw<V> {}

impl<V> Raw<V> {
    /// Creates a complete entry, unmarked and untouched.
    pub(crate) fn create(key: &[u8], fields: &Fields, content: NewContent<'_, V>) -> Self {
        let shape = Shape::new(key, fields, &content);
        let raw = Self::allocate(&shape);
        // SAFETY: the allocation has room for all parts of `shape`, and nobody else knows it.
        unsafe {
            raw.at.cast::<u32>().write(0);
            if shape.key_is_wide() {
                raw.write_at(KEY_LENGTH_AT, &(key.len() as u32).to_le_bytes());
            } else {
                raw.write_at(KEY_LENGTH_AT, &[key.len() as u8]);
            }
            raw.write_at(key_at(shape.key_is_wide()), key);
            raw.write_fields(&shape, fields);
            raw.write_content(&shape, content);
        }
        raw
    }

    /// Allocates memory for `shape`, unwritten.
    pub(crate) fn allocate(shape: &Shape) -> Self {
        let layout = layout(shape);
        // SAFETY: the layout is never empty.
        let at = unsafe { alloc(layout) };
        let Some(at) = NonNull::new(at) else { handle_alloc_error(layout) };
        Self { at, kind: PhantomData }
    }

    /// Frees the memory without dropping a value in it.
    ///
    /// # Safety
    /// Allocated for a shape of the same [`Shape::allocation_bytes`], and never used again.
    pub(crate) unsafe fn free(self, shape: &Shape) {
        // SAFETY: allocated by `allocate` with this layout, says the caller.
        unsafe { dealloc(self.at.as_ptr(), layout(shape)) };
    }

    /// Drops the value, if any, and frees the memory.
    ///
    /// # Safety
    /// Alive, and never used again.
    pub(crate) unsafe fn destroy(self) {
        // SAFETY: alive, says the caller; the value is dropped once, as nobody uses the entry again.
        unsafe {
            let shape = self.shape();
            if shape.form == Form::Value {
                self.value().drop_in_place();
            }
            self.free(&shape);
        }
    }

    /// # Safety
    /// Alive during `'a`.
    pub(crate) unsafe fn head<'a>(self) -> &'a AtomicU32 {
        // SAFETY: the first four bytes of a live entry, aligned to 16.
        unsafe { AtomicU32::from_ptr(self.at.as_ptr().cast()) }
    }

    /// # Safety
    /// Alive, and nobody changes it meanwhile.
    #[inline]
    pub(crate) unsafe fn shape(self) -> Shape {
        // SAFETY: alive, says the caller; the head says how wide the lengths are.
        unsafe {
            let head = self.head().load(Relaxed);
            let form = Form::of_head(head);
            let mut shape = Shape {
                form,
                expiry: Expiry::of_head(head),
                extras: None,
                key_bytes: self.length_at(KEY_LENGTH_AT, head & head::WIDE_KEY != 0),
                content_bytes: size_of::<V>(),
                content_align: align_of::<V>(),
            };
            if has_extras(head) {
                let lead = self.lead_at(shape.extras_at()).load(Relaxed);
                (shape.expiry, shape.extras) = (Expiry::of_lead(lead), Some(extras_of_lead(lead)));
            }
            if form != Form::Value {
                shape.content_bytes = self.length_at(shape.length_at(), form == Form::Long);
                shape.content_align = 1;
            }
            shape
        }
    }

    /// # Safety
    /// Alive and unchanged during `'a`.
    pub(crate) unsafe fn key<'a>(self) -> &'a [u8] {
        // SAFETY: alive, says the caller; the head gives the offset of the key.
        unsafe {
            let wide = self.head().load(Relaxed) & head::WIDE_KEY != 0;
            self.bytes_at(key_at(wide), self.length_at(KEY_LENGTH_AT, wide))
        }
    }

    /// # Safety
    /// Alive and unchanged during `'a`.
    #[inline]
    pub(crate) unsafe fn content<'a>(self) -> Content<'a, V> {
        // SAFETY: alive, says the caller; the shape gives the content's offset and form.
        unsafe {
            let shape = self.shape();
            match shape.form {
                Form::Short | Form::Long => Content::Bytes(self.bytes_at(shape.content_at(), shape.content_bytes)),
                Form::Int => Content::Int(int_of(self.bytes_at(shape.content_at(), shape.content_bytes))),
                Form::Value => Content::Value(&*self.value()),
            }
        }
    }

    /// # Safety
    /// Alive, and nobody changes it meanwhile.
    pub(crate) unsafe fn expires_at_ms(self) -> Option<Ms> {
        // SAFETY: alive, says the caller; the shape gives the offset of the expiry.
        unsafe {
            let head = self.head().load(Relaxed);
            if !has_extras(head) && Expiry::of_head(head) == Expiry::Never {
                return None;
            }
            let shape = self.shape();
            let mut low = [0; 8];
            low[..shape.expiry.bytes()].copy_from_slice(self.bytes_at(shape.expiry_at(), shape.expiry.bytes()));
            (shape.expiry != Expiry::Never).then_some(u64::from_le_bytes(low))
        }
    }

    /// # Safety
    /// Alive, and nobody changes it meanwhile, except for signs.
    pub(crate) unsafe fn extras(self) -> Option<Extras> {
        // SAFETY: alive, says the caller; the shape gives the offset of the extras and which of them are present.
        unsafe {
            if !has_extras(self.head().load(Relaxed)) {
                return None;
            }
            let shape = self.shape();
            let (extras, at) = (shape.extras.expect("just seen"), shape.extras_at());
            let (mut flags, mut cas) = ([0; 4], [0; 8]);
            flags[..extras.flags_bytes()].copy_from_slice(self.bytes_at(at + 1, extras.flags_bytes()));
            let cas_at = at + 1 + extras.flags_bytes();
            cas[..extras.cas_bytes()].copy_from_slice(self.bytes_at(cas_at, extras.cas_bytes()));
            let signs = self.lead_at(at).load(Relaxed) >> lead::SIGNS_SHIFT;
            Some(Extras { flags: u32::from_le_bytes(flags), cas: u64::from_le_bytes(cas), signs })
        }
    }

    /// Returns the first byte of the extras, if any.
    ///
    /// # Safety
    /// Alive during `'a`, and nobody changes it meanwhile, except for signs.
    pub(crate) unsafe fn lead<'a>(self) -> Option<&'a AtomicU8> {
        // SAFETY: alive, says the caller; the shape gives its offset.
        unsafe { has_extras(self.head().load(Relaxed)).then(|| self.lead_at(self.shape().extras_at())) }
    }

    /// Returns the address of the value.
    ///
    /// # Safety
    /// Alive, its form is [`Form::Value`].
    pub(crate) unsafe fn value(self) -> *mut V {
        // SAFETY: within the allocation, at the value's alignment.
        unsafe { self.at.add(self.shape().content_at()).as_ptr().cast() }
    }

    /// Writes everything that depends on the shape except key and content; keeps marks and touched.
    ///
    /// # Safety
    /// Allocated for `shape`, its head written, and nobody else uses it.
    pub(crate) unsafe fn write_fields(self, shape: &Shape, fields: &Fields) {
        // SAFETY: the parts of `shape` are within the allocation.
        unsafe {
            let kept = self.head().load(Relaxed) & head::KEPT_MASK;
            self.head().store(kept | shape.head_bits(), Relaxed);
            if let (Some(extras), Some(parts)) = (&fields.extras, shape.extras) {
                let at = shape.extras_at();
                self.write_at(at, &[shape.lead_bits(extras)]);
                self.write_at(at + 1, &extras.flags.to_le_bytes()[..parts.flags_bytes()]);
                self.write_at(at + 1 + parts.flags_bytes(), &extras.cas.to_le_bytes()[..parts.cas_bytes()]);
            }
            let expiry = fields.expires_at_ms.unwrap_or(0).to_le_bytes();
            self.write_at(shape.expiry_at(), &expiry[..shape.expiry.bytes()]);
            let length = (shape.content_bytes as u32).to_le_bytes();
            self.write_at(shape.length_at(), &length[..shape.form.length_bytes()]);
        }
    }

    /// Writes the content over the previous one.
    ///
    /// # Safety
    /// Allocated for `shape`, which was computed for `content`; nobody else uses it.
    pub(crate) unsafe fn write_content(self, shape: &Shape, content: NewContent<'_, V>) {
        // SAFETY: the content of `shape` is within the allocation, a value at its alignment.
        unsafe {
            match content {
                NewContent::Bytes(bytes) => self.write_at(shape.content_at(), bytes),
                NewContent::Int(int) => {
                    self.write_at(shape.content_at(), &int.to_le_bytes()[..shape.content_bytes]);
                }
                NewContent::Value(value) => self.at.add(shape.content_at()).cast::<V>().write(value),
            }
        }
    }

    /// Returns the address, for a slot; [`Raw::from_address`] converts it back.
    pub(crate) fn address(self) -> usize {
        self.at.as_ptr().expose_provenance()
    }

    /// # Safety
    /// `address` comes from [`Raw::address`] of a live entry.
    pub(crate) unsafe fn from_address(address: usize) -> Self {
        // SAFETY: the address of an allocation is not null.
        let at = unsafe { NonNull::new_unchecked(std::ptr::with_exposed_provenance_mut(address)) };
        Self { at, kind: PhantomData }
    }

    /// # Safety
    /// `at` is within the allocation.
    pub(crate) unsafe fn part(self, at: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe { self.at.as_ptr().add(at) }
    }

    /// Returns the first byte of the extras.
    unsafe fn lead_at<'a>(self, at: usize) -> &'a AtomicU8 {
        // SAFETY: the caller knows that extras are there; while shared, their first byte is accessed only as an atomic.
        unsafe { AtomicU8::from_ptr(self.part(at)) }
    }

    unsafe fn length_at(self, at: usize, wide: bool) -> usize {
        // SAFETY: the caller knows that a length of this width is there.
        unsafe {
            let at = self.at.add(at);
            if wide { u32::from_le_bytes(at.cast::<[u8; 4]>().read()) as usize } else { at.read() as usize }
        }
    }

    unsafe fn bytes_at<'a>(self, at: usize, length: usize) -> &'a [u8] {
        // SAFETY: the caller knows that so many written bytes are there.
        unsafe { std::slice::from_raw_parts(self.part(at), length) }
    }

    unsafe fn write_at(self, at: usize, bytes: &[u8]) {
        // SAFETY: the caller knows that so many bytes have room there; `bytes` do not overlap them.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), self.part(at), bytes.len()) };
    }
}

fn layout(shape: &Shape) -> Layout {
    Layout::from_size_align(shape.allocation_bytes(), size::ALIGN).expect("two 4-GiB lengths fit in an address space")
}
