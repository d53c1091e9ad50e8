//! The hand-over under many schedules: `RUSTFLAGS="--cfg shuttle" cargo test -p journal --test schedules`.

#![cfg(shuttle)]

mod world;

use base::disk::FakeDisk;
use journal::{Lane, Policy, Purpose, Reached, Refusal, Running};
use std::sync::Arc;
use sync::bell::Bell;
use sync::primitives::thread;
use world::*;

/// Hands over two frames in each of `turns`, and waits for the second; every wait must end.
fn work(mut lane: Lane, turns: u8) {
    let (journal, bell) = (lane.journal().clone(), Arc::new(Bell::new()));
    journal.add_bell(bell.clone());
    for index in 0..2 * turns {
        let claim = shuttle::future::block_on(std::future::poll_fn(|context| {
            use std::task::Poll;
            match lane.try_admit(40, Purpose::Grow) {
                Ok(claim) => return Poll::Ready(claim),
                Err(refusal) => assert_eq!(refusal, Refusal::Wait),
            }
            lane.end_turn();
            journal.wait_room(context.waker());
            lane.try_admit(40, Purpose::Grow).map_or(Poll::Pending, Poll::Ready)
        }));
        let ticket = lane.take(claim, 40);
        let end = ticket.end;
        lane.hand_over(ticket, 0, &mut vec![index; 40]);
        if index % 2 == 0 {
            drop(lane.try_admit(40, Purpose::Grow));
            continue;
        }
        lane.end_turn();
        while journal.want(&bell, end) == Reached::Waiting {
            shuttle::future::block_on(std::future::poll_fn(|context| bell.poll_rung(context)));
        }
    }
}

fn hand_over(policy: Policy) {
    let disk = FakeDisk::new();
    let World { journal, writer, maker, .. } = World::open(&disk, policy).unwrap();
    let running = Running::start(writer, maker);
    let worker = || {
        let journal = journal.clone();
        thread::spawn(move || work(journal.lane(), 3))
    };
    let workers = [worker(), worker()];
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    assert_eq!(journal.durable(), journal.next());
    let end = journal.next();
    running.stop().unwrap();
    assert_eq!(frames_of(&disk.crash(1), 0..end).len(), 12);
}

#[test]
fn every_wait_ends_under_always() {
    shuttle::check_random(|| hand_over(Policy::Always), cases(4000) as usize);
}

#[test]
fn every_wait_ends_under_everysec() {
    shuttle::check_random(|| hand_over(Policy::EverySec), cases(4000) as usize);
}
