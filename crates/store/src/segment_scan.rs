//! Reads a segment that may be damaged: every intact page or block, and every damaged byte range.

use crate::page::{
    BLOCK_HEAD_BYTES, PAGE_HEAD_BYTES, PageHead, block_length, check_payload, decode_block, visit_records,
};
use crate::reader::Chain;
use crate::segment::{END_BYTES, HEAD_BYTES, SegmentHead, decode_end};
use crate::state::{Run, SegmentKind, SegmentRecord};
use crate::window::Window;
use base::disk::DiskFile;
use std::io;

/// Bytes examined per step of a search for the next valid page.
const SEARCH_BYTES: u64 = 64 << 10;

/// An intact page.
pub(crate) struct Page {
    pub(crate) head: PageHead,
    /// Its encoded head, input to a run's checksum.
    bytes: [u8; PAGE_HEAD_BYTES],
}

impl Page {
    /// Rereads the page and passes its records to `visit`; stops at the first error.
    pub(crate) fn visit(
        &self,
        file: &dyn DiskFile,
        visit: &mut dyn FnMut(&[u8]) -> Result<(), String>,
    ) -> io::Result<()> {
        let mut payload = vec![0; self.head.payload_bytes as usize];
        let count = file.read_at(&mut payload, self.head.offset + PAGE_HEAD_BYTES as u64)?;
        let whole = check_payload(&self.head, &payload[..count]).map_err(str::to_owned);
        whole.and_then(|()| visit_records(&self.head, &payload, visit)).map_err(io::Error::other)
    }
}

/// Damaged bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) why: String,
}

/// The contents of a segment.
pub(crate) struct SegmentScan {
    pub(crate) file_bytes: u64,
    pub(crate) pages: Vec<Page>,
    pub(crate) blocks: u64,
    /// Damage between intact pages or blocks.
    pub(crate) faults: Vec<Fault>,
    /// Damage to head, end or length: without consequence for named data.
    pub(crate) blemishes: Vec<Fault>,
}

/// Reads a whole segment.
pub(crate) fn scan(
    file: &dyn DiskFile,
    segment: &SegmentRecord,
    progress: &mut dyn FnMut(u64),
) -> io::Result<SegmentScan> {
    let mut window = Window::new(file)?;
    let file_bytes = window.file_bytes();
    let mut scan = SegmentScan { file_bytes, pages: Vec::new(), blocks: 0, faults: Vec::new(), blemishes: Vec::new() };
    let head = SegmentHead::decode(window.at(0, HEAD_BYTES as u64)?);
    let head = head.and_then(|head| if head.number == segment.number { Ok(()) } else { Err("another".into()) });
    if let Err(why) = head {
        scan.blemishes.push(Fault { offset: 0, end: HEAD_BYTES as u64, why });
    }
    let end = segment.bytes.min(file_bytes).saturating_sub(END_BYTES as u64);
    let end = if file_bytes < segment.bytes { file_bytes } else { end };
    let mut offset = HEAD_BYTES as u64;
    while offset < end {
        let taken = match scan.take(&mut window, segment, offset, end)? {
            Ok(bytes) => bytes,
            Err(why) => {
                let next = search(&mut window, segment, offset, end)?;
                scan.faults.push(Fault { offset, end: next, why });
                next - offset
            }
        };
        offset += taken;
        progress(taken);
    }
    if file_bytes >= segment.bytes {
        let stored = decode_end(window.at(end, END_BYTES as u64)?, segment.number, end);
        let count = scan.pages.len() as u64 + scan.blocks;
        let result =
            stored.map_err(str::to_owned).and_then(|stored| match stored == count || !scan.faults.is_empty() {
                true => Ok(()),
                false => Err(format!("the segment has {count} pages or blocks, its end record says {stored}")),
            });
        let fault = |why| Fault { offset: end, end: segment.bytes, why };
        scan.blemishes.extend(result.err().map(fault));
    }
    if file_bytes > segment.bytes {
        let why = "bytes follow the end of the segment".into();
        scan.blemishes.push(Fault { offset: segment.bytes, end: file_bytes, why });
    }
    Ok(scan)
}

impl SegmentScan {
    /// Reads the page or block at `offset`; returns its length.
    fn take(
        &mut self,
        window: &mut Window<'_>,
        segment: &SegmentRecord,
        offset: u64,
        end: u64,
    ) -> io::Result<Result<u64, String>> {
        let head_bytes = if segment.kind == SegmentKind::Runs { PAGE_HEAD_BYTES } else { BLOCK_HEAD_BYTES } as u64;
        let head = window.at(offset, head_bytes.min(end - offset))?;
        if segment.kind == SegmentKind::Blocks {
            let length = match block_length(head, segment.number, offset) {
                Ok(length) if offset + head_bytes + u64::from(length) <= end => length,
                Ok(_) => return Ok(Err("the block reaches beyond its segment".into())),
                Err(why) => return Ok(Err(why.into())),
            };
            let bytes = head_bytes + u64::from(length);
            let block = decode_block(window.at(offset, bytes)?, segment.number, offset);
            self.blocks += u64::from(block.is_ok());
            return Ok(block.map(|_| bytes).map_err(str::to_owned));
        }
        let page = match PageHead::decode(head, segment.number, offset) {
            Ok(page) if offset + page.bytes() <= end => page,
            Ok(_) => return Ok(Err("the page reaches beyond its segment".into())),
            Err(why) => return Ok(Err(why.into())),
        };
        let payload = window.at(offset + head_bytes, u64::from(page.payload_bytes))?;
        let whole = check_payload(&page, payload).map_err(str::to_owned);
        let whole = whole.and_then(|()| visit_records(&page, payload, &mut |_| Ok(())));
        if whole.is_ok() {
            self.pages.push(Page { bytes: page.encode(), head: page });
        }
        Ok(whole.map(|()| page.bytes()))
    }

    /// Returns the intact pages of `shard` in `run`.
    pub(crate) fn pages_of<'a>(&'a self, shard: u32, run: &'a Run) -> impl Iterator<Item = &'a Page> {
        let end = run.offset.saturating_add(run.bytes);
        self.pages.iter().filter(move |page| {
            let (from, bytes) = (page.head.offset, page.head.bytes());
            page.head.shard == shard && from >= run.offset && from + bytes <= end
        })
    }

    /// Checks that a reader could read the run to its end.
    pub(crate) fn check_run(&self, shard: u32, run: &Run) -> Result<(), (u64, String)> {
        let end = run.offset.saturating_add(run.bytes);
        let (mut chain, mut offset) = (Chain::default(), run.offset);
        for page in self.pages_of(shard, run) {
            if page.head.offset != offset {
                break;
            }
            chain.follow(&page.head, &page.bytes, shard, end).map_err(|why| (offset, why))?;
            offset += page.head.bytes();
        }
        if offset < end {
            let fault = self.faults.iter().find(|fault| fault.offset <= offset && offset < fault.end);
            let why = fault.map_or_else(|| "no page of this run begins here".into(), |fault| fault.why.clone());
            return Err((offset, why));
        }
        if end > self.file_bytes {
            return Err((self.file_bytes, "the file ends before the run does".into()));
        }
        chain.end(run).map_err(|why| (run.offset, why.into()))
    }
}

/// Returns the offset of the next valid head after `offset`; `end` if there is none.
fn search(window: &mut Window<'_>, segment: &SegmentRecord, offset: u64, end: u64) -> io::Result<u64> {
    let mut at = offset + 1;
    while at < end {
        let bytes = window.at(at, (SEARCH_BYTES + PAGE_HEAD_BYTES as u64).min(end - at))?;
        let is_head = |index: usize| {
            let rest = &bytes[index..];
            let offset = at + index as u64;
            match segment.kind {
                SegmentKind::Runs => PageHead::decode(rest, segment.number, offset).is_ok(),
                SegmentKind::Blocks => block_length(rest, segment.number, offset).is_ok(),
            }
        };
        let steps = bytes.len().min(SEARCH_BYTES as usize);
        if let Some(index) = (0..steps).find(|&index| is_head(index)) {
            return Ok(at + index as u64);
        }
        if steps == 0 {
            break;
        }
        at += steps as u64;
    }
    Ok(end)
}
