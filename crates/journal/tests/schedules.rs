//! The hand-over under many schedules: `RUSTFLAGS="--cfg shuttle" cargo test -p journal --test tests schedules::`.

#![cfg(shuttle)]

use crate::world::*;
use base::disk::FakeDisk;
use journal::{Journal, Level, LogBuffer, Policy, Purpose, Reached, Refusal, Running};
use std::sync::Arc;
use sync::notifier::Notifier;
use sync::primitives::thread;

/// Hands over two frames in each of `turns`, and waits for the second; every wait must end.
fn work(mut log_buffer: LogBuffer, turns: u8) {
    let (journal, notifier) = (log_buffer.journal().clone(), Arc::new(Notifier::new()));
    journal.add_notifier(notifier.clone());
    for index in 0..2 * turns {
        let claim = shuttle::future::block_on(std::future::poll_fn(|context| {
            use std::task::Poll;
            match log_buffer.try_admit(40, Purpose::Grow) {
                Ok(claim) => return Poll::Ready(claim),
                Err(refusal) => assert_eq!(refusal, Refusal::Wait),
            }
            log_buffer.end_turn();
            journal.wait_room(context.waker());
            log_buffer.try_admit(40, Purpose::Grow).map_or(Poll::Pending, Poll::Ready)
        }));
        let ticket = log_buffer.take(claim, 40);
        let end = ticket.end;
        log_buffer.hand_over(ticket, 0, &mut vec![index; 40]);
        if index % 2 == 0 {
            drop(log_buffer.try_admit(40, Purpose::Grow));
            continue;
        }
        log_buffer.end_turn();
        while journal.want(&notifier, Level::Durable, end) == Reached::Waiting {
            shuttle::future::block_on(std::future::poll_fn(|context| notifier.poll_notified(context)));
        }
    }
}

/// Has everything synced and releases it, until all frames there will be are.
fn release(journal: &Journal, end: u64) {
    let notifier = Arc::new(Notifier::new());
    journal.add_notifier(notifier.clone());
    while journal.released() < end {
        let position = journal.next();
        while journal.want(&notifier, Level::Durable, position) == Reached::Waiting {
            shuttle::future::block_on(std::future::poll_fn(|context| notifier.poll_notified(context)));
        }
        journal.release_below(position);
        thread::yield_now();
    }
}

fn hand_over(policy: Policy, tail_bytes_max: u64) {
    let disk = FakeDisk::new();
    let World { journal, writer, preallocator, .. } = World::open(&disk, policy).unwrap();
    journal.set_tail_limit(tail_bytes_max);
    let running = Running::start(writer, preallocator);
    let releaser = (tail_bytes_max < u64::MAX).then(|| {
        let journal = journal.clone();
        thread::spawn(move || release(&journal, 12 * 80))
    });
    let worker = || {
        let journal = journal.clone();
        thread::spawn(move || work(journal.log_buffer(), 3))
    };
    let workers = [worker(), worker()];
    workers.into_iter().chain(releaser).for_each(|worker| worker.join().unwrap());
    assert_eq!(journal.durable(), journal.next());
    let end = journal.next();
    running.stop().unwrap();
    assert_eq!(frames_of(&disk.crash(1), 0..end).len(), 12);
}

#[test]
fn every_wait_ends_under_always() {
    shuttle::check_random(|| hand_over(Policy::Always, u64::MAX), cases(4000) as usize);
}

#[test]
fn every_wait_ends_under_everysec() {
    shuttle::check_random(|| hand_over(Policy::EverySec, u64::MAX), cases(4000) as usize);
}

#[test]
fn every_wait_for_a_release_ends() {
    shuttle::check_random(|| hand_over(Policy::Never, 200), cases(2000) as usize);
    shuttle::check_random(|| hand_over(Policy::Always, 200), cases(1000) as usize);
}
