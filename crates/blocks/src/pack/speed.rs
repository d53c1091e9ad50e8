//! Throw-away.
use super::*;
use crate::Direction;
use crate::view::Lengths;
use std::hint::black_box;
use std::time::Instant;
#[test]
#[ignore]
fn speed() {
    let mut state = 7u64;
    let mut next = move |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let mut word = |a: &[u8]| -> String { (0..12).map(|_| char::from(a[next(a.len() as u64) as usize])).collect() };
    let l = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut kinds: Vec<(&str, Vec<String>)> = vec![];
    kinds.push(("alnum", (0..440).map(|_| word(l)).collect()));
    kinds.push(("hex", (0..660).map(|_| word(b"0123456789abcdef")).collect()));
    kinds.push(("digits", (0..800).map(|_| word(b"0123456789")).collect()));
    kinds.push(("consecutive", (0..1365).map(|i| format!("{:012}", 123_456_789 + i)).collect()));
    let mut id = 500_000_000;
    kinds.push((
        "rising",
        (0..1365)
            .map(|_| {
                id += 1 + (word(b"0123456789")[..4].parse::<u64>().unwrap() % 100);
                format!("{id:012}")
            })
            .collect(),
    ));
    kinds.push(("post", (0..1300).map(|_| format!("post:{}", &word(b"0123456789")[..7])).collect()));
    kinds.push(("p:alnum9", (0..500).map(|_| format!("id:{}", &word(l)[..9])).collect()));
    kinds.push((
        "canonical",
        (0..1365).map(|_| format!("post:{}", word(b"0123456789")[..7].parse::<u64>().unwrap())).collect(),
    ));
    kinds.push(("mixed alnum", (0..440).map(|i| word(l)[..(4 + (i * 7) % 9)].to_string()).collect()));
    for (name, items) in kinds {
        let bytes = items.concat().into_bytes();
        let column: Vec<u8> = items.iter().rev().map(|i| i.len() as u8).collect();
        let fixed = items.iter().all(|i| i.len() == items[0].len());
        let lengths = if fixed { Lengths::Fixed(items[0].len()) } else { Lengths::Narrow(&column) };
        let run = View { count: items.len(), lengths, bytes: &bytes };
        let p = plan(&run, 4080).unwrap();
        let mut out = vec![0; 4096];
        let best = |f: &mut dyn FnMut()| {
            (0..40)
                .map(|_| {
                    let t = Instant::now();
                    for _ in 0..50 {
                        f()
                    }
                    t.elapsed().as_nanos() as f64 / 50.0
                })
                .fold(f64::MAX, f64::min)
        };
        let tp = best(&mut || {
            black_box(plan(black_box(&run), 4080));
        });
        let tw = best(&mut || {
            write(&p, black_box(&run), &mut out);
        });
        let data = &out[..p.data_bytes];
        let packed = Packed::of(p.form, p.count, data);
        let mid = p.count / 2;
        let tu = best(&mut || {
            black_box(Packed::of(p.form, p.count, black_box(data)).unpack(mid, mid + 100));
        });
        let tall = best(&mut || {
            black_box(packed.unpack(0, p.count));
        });
        let absent = items[0].replace(|c: char| c != ':', "0");
        let tf = best(&mut || {
            black_box(packed.find(black_box(absent.as_bytes()), 0, p.count, Direction::Forward));
        });
        let tc = best(&mut || {
            black_box(Packed::check(p.form, p.count, data)).ok();
        });
        let n = p.count as f64;
        println!(
            "{name:12} {:?} n={} {:.2} B/item plan {:.1} write {:.1} ns/item; unpack100 {:.0}; unpack all {:.1}/item; find {:.1}/item check {:.1}/item",
            p.form,
            p.count,
            p.data_bytes as f64 / n,
            tp / n,
            tw / n,
            tu,
            tall / n,
            tf / n,
            tc / n
        );
    }
    let mut state = 7u64;
    let rnd: Vec<u8> = (0..4080)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as u8
        })
        .collect();
    let run = View { count: 340, lengths: Lengths::Fixed(12), bytes: &rnd };
    let t = Instant::now();
    for _ in 0..1000 {
        black_box(plan(black_box(&run), 4080));
    }
    println!("refuse {:.0} ns", t.elapsed().as_nanos() as f64 / 1000.0);
}
