//! Changes an entry in its slot, and owns one outside a table.

use std::marker::PhantomData;
use std::mem::forget;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use base::Ms;

use crate::entry::{Entry, Raw};
use crate::shape::{Expiry, Form, Shape, head};
use crate::table::Slot;
use crate::{Content, Extras, Fields, NewContent, OwnedContent};

/// A mutable entry. A change that reallocates it updates its slot.
pub struct EntryMut<'a, V> {
    slot: &'a mut Slot,
    /// The table's total of entry allocations.
    entries_bytes: &'a mut u64,
    alive: PhantomData<&'a mut V>,
}

impl<'a, V> EntryMut<'a, V> {
    /// # Safety
    /// The slot holds a live entry of `V`, of the table that `entries_bytes` belongs to.
    pub(crate) unsafe fn new(slot: &'a mut Slot, entries_bytes: &'a mut u64) -> Self {
        Self { slot, entries_bytes, alive: PhantomData }
    }

    /// Returns a read-only view of the entry.
    pub fn read(&self) -> Entry<'_, V> {
        // SAFETY: alive; changes need `&mut self`.
        unsafe { Entry::new(self.raw()) }
    }

    /// Returns the key.
    pub fn key(&self) -> &[u8] {
        self.read().key()
    }

    /// Returns the content.
    pub fn content(&self) -> Content<'_, V> {
        self.read().content()
    }

    /// Returns the key's expiry time; `None` if it never expires.
    pub fn expires_at_ms(&self) -> Option<Ms> {
        self.read().expires_at_ms()
    }

    /// Returns expiry and extras.
    pub fn fields(&self) -> Fields {
        self.read().fields()
    }

    /// Returns the three checkpoint marks.
    pub fn marks(&self) -> u8 {
        self.read().marks()
    }

    /// See [`Entry::touched`].
    pub fn touched(&self) -> u32 {
        self.read().touched()
    }

    /// See [`Entry::touch`].
    pub fn touch(&self, now_seconds: u32) {
        self.read().touch(now_seconds);
    }

    /// Replaces the content; keeps expiry, marks and touched. In place if the size class stays the same.
    pub fn set_content(&mut self, content: NewContent<'_, V>) {
        let old = self.shape();
        // SAFETY: the old content is a live value; it is overwritten below without being dropped.
        let old_value = (old.form == Form::Value).then(|| unsafe { self.raw().value().read() });
        let shape = old.with_content(&content);
        if shape != old {
            self.reshape(&shape, &self.fields(), 0);
        }
        // SAFETY: the entry now has this shape, which was computed for `content`.
        unsafe { self.raw().write_content(&shape, content) };
        drop(old_value);
    }

    /// Overwrites a string or a number by one of the same form and length, if the entry has neither an expiry nor extras.
    /// Returns false if it has, or if that needs another layout.
    pub fn overwrite(&mut self, content: &NewContent<'_, V>) -> bool {
        let shape = self.shape();
        let is_plain = shape.extras.is_none() && shape.expiry == Expiry::Never && shape.form != Form::Value;
        if !is_plain || shape.with_content(content) != shape {
            return false;
        }
        // SAFETY: the entry has the shape that this content has, and no value that would have to be dropped.
        unsafe {
            match content {
                NewContent::Bytes(bytes) => self.raw().write_content(&shape, NewContent::Bytes(bytes)),
                NewContent::Int(int) => self.raw().write_content(&shape, NewContent::Int(*int)),
                NewContent::Value(_) => return false,
            }
        }
        true
    }

    /// Returns the mutable value; `None` if the content is not a value.
    pub fn value_mut(&mut self) -> Option<&mut V> {
        // SAFETY: the value is alive and only reachable through `self`.
        (self.shape().form == Form::Value).then(|| unsafe { &mut *self.raw().value() })
    }

    /// Returns the mutable string, of fixed length; `None` if the content is not a string.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        let shape = self.shape();
        if !matches!(shape.form, Form::Short | Form::Long) {
            return None;
        }
        // SAFETY: the content's bytes are written and only reachable through `self`.
        Some(unsafe { std::slice::from_raw_parts_mut(self.raw().part(shape.content_at()), shape.content_bytes) })
    }

    /// Appends to a string. Amortised O(`tail`).
    ///
    /// # Panics
    /// If the content is not a string.
    pub fn append(&mut self, tail: &[u8]) {
        let length = self.text_shape().content_bytes + tail.len();
        let at = self.lengthen(length);
        // SAFETY: there is room for the new bytes, and nobody else can hold a reference to it.
        unsafe { at.copy_from_nonoverlapping(tail.as_ptr(), tail.len()) };
    }

    /// Truncates a string, or extends it with zero bytes. Amortised O(bytes added), or O(`length`) when truncated.
    ///
    /// # Panics
    /// If the content is not a string.
    pub fn resize(&mut self, length: usize) {
        let old = self.text_shape();
        if length > old.content_bytes {
            let at = self.lengthen(length);
            // SAFETY: there is room for the new bytes.
            unsafe { at.write_bytes(0, length - old.content_bytes) };
        } else {
            self.reshape(&old.with_bytes(length), &self.fields(), length);
        }
    }

    /// Sets or clears the expiry.
    pub fn set_expiry(&mut self, expires_at_ms: Option<Ms>) {
        self.set_fields(&Fields { expires_at_ms, extras: self.read().extras() });
    }

    /// Sets or clears the extras.
    pub fn set_extras(&mut self, extras: Option<Extras>) {
        self.set_fields(&Fields { expires_at_ms: self.expires_at_ms(), extras });
    }

    /// Sets expiry and extras.
    pub fn set_fields(&mut self, fields: &Fields) {
        let old = self.shape();
        self.reshape(&old.with_fields(fields), fields, old.content_bytes);
    }

    /// Sets the three marks.
    pub fn set_marks(&mut self, marks: u8) {
        // SAFETY: alive while `self` is.
        set_marks(unsafe { self.raw().head() }, marks);
    }

    /// Extends a string; returns the address of the new bytes, for the caller to write.
    fn lengthen(&mut self, length: usize) -> *mut u8 {
        let old = self.text_shape();
        let shape = old.with_bytes(length);
        self.reshape(&shape, &self.fields(), old.content_bytes);
        // SAFETY: within the allocation, which now has this shape.
        unsafe { self.raw().part(shape.content_at() + old.content_bytes) }
    }

    /// Gives the entry another shape (for the same key) and fields, keeping the first `kept_bytes` of the content, in
    /// another allocation if the class differs. The caller writes the rest of the content.
    fn reshape(&mut self, shape: &Shape, fields: &Fields, kept_bytes: usize) {
        let (raw, old) = (self.raw(), self.shape());
        let in_place = old.allocation_bytes() == shape.allocation_bytes();
        let target = if in_place { raw } else { Raw::allocate(shape) };
        // SAFETY: all parts are within their allocations; head, key length and key have the same offset in both
        // shapes. The content moves before the fields are written: these precede its new offset.
        unsafe {
            if !in_place {
                raw.part(0).copy_to_nonoverlapping(target.part(0), old.extras_at());
            }
            if !in_place || old.content_at() != shape.content_at() {
                raw.part(old.content_at()).copy_to(target.part(shape.content_at()), kept_bytes);
            }
            target.write_fields(shape, fields);
            if !in_place {
                raw.free(&old);
                *self.slot = self.slot.with(target);
                *self.entries_bytes += shape.allocation_bytes() as u64;
                *self.entries_bytes -= old.allocation_bytes() as u64;
            }
        }
    }

    fn text_shape(&self) -> Shape {
        let shape = self.shape();
        assert!(matches!(shape.form, Form::Short | Form::Long), "the content is not a string");
        shape
    }

    fn shape(&self) -> Shape {
        // SAFETY: alive, and exclusively ours.
        unsafe { self.raw().shape() }
    }

    fn raw(&self) -> Raw<V> {
        // SAFETY: the slot holds a live entry.
        unsafe { self.slot.raw() }
    }
}

/// An entry outside a table: removed by [`Table::remove`](crate::Table::remove), or a
/// [`Table::copy`](crate::Table::copy).
pub struct OwnedEntry<V>(Raw<V>);

impl<V> OwnedEntry<V> {
    /// # Safety
    /// `raw` is alive and now belongs to the result alone.
    pub(crate) unsafe fn new(raw: Raw<V>) -> Self {
        Self(raw)
    }

    pub(crate) fn into_raw(self) -> Raw<V> {
        let raw = self.0;
        forget(self);
        raw
    }

    /// Returns a read-only view of the entry.
    pub fn read(&self) -> Entry<'_, V> {
        // SAFETY: alive while `self` is; nothing changes it.
        unsafe { Entry::new(self.0) }
    }

    /// Sets the three marks.
    pub fn set_marks(&mut self, marks: u8) {
        // SAFETY: alive while `self` is.
        set_marks(unsafe { self.0.head() }, marks);
    }

    /// Returns the content alone.
    pub fn into_content(self) -> OwnedContent<V> {
        match self.read().content() {
            Content::Bytes(bytes) => OwnedContent::Bytes(bytes.to_vec()),
            Content::Int(int) => OwnedContent::Int(int),
            Content::Value(_) => {
                let raw = self.into_raw();
                // SAFETY: alive and ours; the value is moved out, then only the memory is given back.
                unsafe {
                    let value = raw.value().read();
                    raw.free(&raw.shape());
                    OwnedContent::Value(value)
                }
            }
        }
    }
}

fn set_marks(head: &AtomicU32, marks: u8) {
    assert!(marks < 8);
    head.store(head.load(Relaxed) & !head::MARKS_MASK | u32::from(marks) << head::MARKS_SHIFT, Relaxed);
}

impl<V> Drop for OwnedEntry<V> {
    fn drop(&mut self) {
        // SAFETY: alive and ours, and never used again.
        unsafe { self.0.destroy() };
    }
}

// SAFETY: it owns its memory and its `V`.
unsafe impl<V: Send> Send for OwnedEntry<V> {}
// SAFETY: shared, it gives out only what an `Entry` gives out.
unsafe impl<V: Sync> Sync for OwnedEntry<V> {}
