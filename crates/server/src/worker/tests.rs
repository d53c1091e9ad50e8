//! Workers that hang, and places for connections.

use super::*;
use engine::settings::Draft;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a request on a new connection; returns it, and whether the answer came soon.
fn ask(address: SocketAddr) -> (TcpStream, bool) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"PING\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let is_answered = stream.read(&mut [0; 7]).is_ok_and(|bytes| bytes == 7);
    (stream, is_answered)
}

/// Starts two workers of an engine without a journal, which listen.
fn start_two() -> (Workers, Arc<Engine>, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let listeners =
        Listeners { tcp: vec![(address, listener)], memcached: Vec::new(), queue: Vec::new(), unix: Vec::new() };
    let open = crate::open::open(Arc::new(Draft::new().finish()), None, 2, crate::memory::Limits::none()).unwrap();
    let workers = Workers::start(&open.engine, 2, listeners, false).unwrap();
    (workers, open.engine, address)
}

#[test]
fn a_hung_worker_does_not_block_new_connections() {
    let (workers, _, address) = start_two();
    for hanging in [0, 1] {
        let (goes_on, until) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let hang = move || {
            begin.send(()).unwrap();
            let _ = until.recv();
        };
        workers.crew.seats[hanging].worker_queue.send(Message::Hang(Box::new(hang))).unwrap();
        begun.recv().unwrap();
        let began = Instant::now();
        // It may get some connections before it counts as hung, since it has the fewest connections all the time.
        let (mut served, mut lost) = (Vec::new(), Vec::new());
        let mut served_on_end = 0;
        while served_on_end < 5 {
            let (stream, is_answered) = ask(address);
            served_on_end = if is_answered { served_on_end + 1 } else { 0 };
            if is_answered { &mut served } else { &mut lost }.push(stream);
            assert!(began.elapsed() < PATIENCE, "few are served while worker {hanging} hangs");
        }
        drop(goes_on);
        for mut stream in lost {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            assert_eq!(stream.read(&mut [0; 7]).unwrap(), 7, "they are served once it goes on");
        }
    }
    workers.stop();
}

#[test]
fn a_connection_that_moves_is_counted_once() {
    let (workers, engine, address) = start_two();
    let began = Instant::now();
    let has_moved = || engine.counters.iter().any(|counters| counters.moves.get() > 0);
    let pipeline = b"INCR hits\r\n".repeat(100);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let mut left: usize = 0;
                while !has_moved() && began.elapsed() < PATIENCE {
                    stream.write_all(&pipeline).unwrap();
                    left += 100;
                    while left > 0 {
                        let mut bytes = [0; 4096];
                        let read = stream.read(&mut bytes).unwrap();
                        assert!(read > 0, "the connection is closed");
                        left -= bytes[..read].iter().filter(|byte| **byte == b'\n').count();
                    }
                }
            });
        }
    });
    assert!(has_moved());
    let counts = || {
        let seats = workers.crew.seats.iter().map(|seat| seat.connections.load(Relaxed));
        (workers.crew.admitted.load(Relaxed), seats.collect::<Vec<_>>(), engine.clients.count())
    };
    while counts() != (0, vec![0, 0], 0) {
        assert!(began.elapsed() < 2 * PATIENCE, "{:?} are left", counts());
        thread::sleep(Duration::from_millis(1));
    }
    workers.stop();
}

fn crew(count: usize) -> Crew {
    Crew::new((0..count).map(|_| unbounded_channel().0).collect())
}

#[test]
fn a_worker_that_neither_waits_nor_starts_turns_is_hung() {
    let pulse = Pulse::default();
    pulse.beat();
    assert!(!pulse.is_hung(10_000), "the first to look cannot tell");
    assert!(!pulse.is_hung(10_000 + HUNG_MS - 1));
    assert!(pulse.is_hung(10_000 + HUNG_MS));
    pulse.beat();
    assert!(!pulse.is_hung(20_000));
    pulse.set_waiting(true);
    assert!(!pulse.is_hung(30_000), "it waits for events");
    pulse.set_waiting(false);
    assert!(!pulse.is_hung(40_000));
    assert!(pulse.is_hung(50_000));
}

#[test]
fn the_worker_with_the_fewest_connections_is_chosen() {
    let crew = crew(3);
    crew.seats.iter().for_each(|seat| seat.pulse.set_waiting(true));
    [2, 1, 1].iter().zip(&crew.seats).for_each(|(count, seat)| seat.connections.store(*count, Relaxed));
    assert_eq!((crew.choose(0), crew.choose(2)), (1, 2));
    crew.seats[2].connections.store(0, Relaxed);
    assert_eq!(crew.choose(0), 2);
}

#[test]
fn connection_places_are_counted_exactly_under_concurrency() {
    let crew = crew(4);
    let taken: usize = thread::scope(|scope| {
        let take = || (0..200).filter(|_| crew.take_place(100, false).is_some()).count();
        let takers: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(taken, 100);
    assert_eq!(crew.take_place(100, true), Some(ConnectionPlace::Reserve));
    assert_eq!((0..100).filter(|_| crew.take_place(100, true).is_some()).count(), LOCAL_RESERVE - 1);
    crew.leave_all_but(99);
    assert_eq!(crew.take_place(100, true), Some(ConnectionPlace::Ordinary));
}

impl Crew {
    fn leave_all_but(&self, count: usize) {
        self.admitted.store(count, Relaxed);
    }
}
