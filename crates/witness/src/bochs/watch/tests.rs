#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use pathmeter_vm::INIT;

const ENTRY: u64 = 0xffff_ffff_8100_0100;
const FAULT: u64 = 0xffff_ffff_8100_0200;
const SOFTIRQS: u64 = 0xffff_ffff_8100_0300;
const FUNCTION: u64 = 0xffff_ffff_8100_0400;
const SWITCH: u64 = 0xffff_ffff_8100_0500;
const TICK: u64 = 0xffff_ffff_8100_0600;
const TEXT: u64 = 0xffff_ffff_8100_0000;

/// A Bochs with these registers and this on top of the stack.
#[derive(Default)]
struct Fake {
    registers: BTreeMap<&'static str, u64>,
    top: u64,
    stops: Vec<u64>,
    heeded: Vec<bool>,
    no_switch: bool,
}

impl Stopped for Fake {
    type Error = String;

    fn register(&mut self, name: &str) -> Result<u64, String> {
        self.registers.get(name).copied().ok_or_else(|| name.to_owned())
    }

    fn top(&mut self) -> Result<u64, String> {
        Ok(self.top)
    }

    fn bytes(&mut self, range: Range<u64>) -> Result<Vec<u8>, String> {
        let code: &[u8] = match range.start {
            SWITCH if self.no_switch => &[0x90; 8],
            TICK => &[0x6a, 0x30, 0xe9, 0],
            SWITCH => &[0x90, 0x48, 0x8b, 0xa6, 0, 0, 0, 0],
            _ => &[0x48, 0xcf, 0x90, 0x0f, 0x07, 0x48, 0x0f, 0x35],
        };
        Ok(code.to_vec())
    }

    fn stop_at(&mut self, address: u64) -> Result<(), String> {
        self.stops.push(address);
        Ok(())
    }

    fn heed(&mut self, on: bool) -> Result<(), String> {
        self.heeded.push(on);
        Ok(())
    }

    fn unwatchable_error(&self, what: &str) -> String {
        what.to_owned()
    }
}

fn landmarks() -> Landmarks {
    Landmarks {
        entries: vec![
            (ENTRY, Look::Function),
            (FAULT, Look::Top),
            (SOFTIRQS, Look::ReturnAddress),
            (TICK, Look::Interrupt),
        ],
        entry_text: TEXT..TEXT + 8,
        switch: SWITCH..SWITCH + 8,
        functions: [FUNCTION].into(),
    }
}

/// A watch that has seen a run begin, and where it ends.
fn begun(bochs: &mut Fake) -> (Watch, u64) {
    let mut watch = Watch::new(landmarks(), INIT);
    let markers: Vec<u64> = watch.first_places().collect();
    let [end, begin] = markers[..] else { panic!("{markers:x?}") };
    let (begin, end) =
        if watch.places[&begin] == Place::Begin { (begin, end) } else { (end, begin) };
    assert_eq!(stopped(&mut watch, bochs, (10, begin)), Next::Go);
    (watch, end)
}

fn stopped(watch: &mut Watch, bochs: &mut Fake, (clock, address): (u64, u64)) -> Next {
    watch.stopped(Halt { clock, address }, bochs).unwrap()
}

#[test]
fn the_agent_has_both_markers_once() {
    let watch = Watch::new(landmarks(), INIT);
    assert_eq!(watch.first_places().count(), 2);
    assert_eq!(Watch::new(landmarks(), b"no agent").first_places().count(), 0);
}

#[test]
fn at_the_first_begin_bochs_is_told_where_to_stop() {
    let mut bochs = Fake::default();
    let (mut watch, end) = begun(&mut bochs);
    let returns = [TEXT, TEXT + 3, TEXT + 5];
    let expected = [&[ENTRY, FAULT, SOFTIRQS, TICK + 2, SWITCH + 1][..], &returns].concat();
    assert_eq!(bochs.stops, expected);
    assert!(bochs.heeded.is_empty());
    assert_eq!(stopped(&mut watch, &mut bochs, (90, end)), Next::Go);
    assert_eq!(bochs.heeded, [false]);
    let stops = watch.take().iter().map(|stop| (stop.clock, stop.place)).collect::<Vec<_>>();
    assert_eq!(stops, [(10, StopPlace::Begin), (90, StopPlace::End)]);
}

#[test]
fn nothing_is_seen_between_runs() {
    let mut bochs = Fake::default();
    let (mut watch, end) = begun(&mut bochs);
    stopped(&mut watch, &mut bochs, (90, end));
    watch.take();
    assert_eq!(stopped(&mut watch, &mut bochs, (95, FAULT)), Next::Go);
    assert!(watch.take().is_empty());
}

#[test]
fn a_system_call_s_function_is_searched_for_once() {
    let mut bochs = Fake { registers: [("rax", 39)].into(), ..Fake::default() };
    let (mut watch, _) = begun(&mut bochs);
    assert_eq!(stopped(&mut watch, &mut bochs, (20, ENTRY)), Next::Step);
    assert_eq!(stopped(&mut watch, &mut bochs, (21, ENTRY + 4)), Next::Step);
    assert_eq!(stopped(&mut watch, &mut bochs, (22, FUNCTION)), Next::Go);
    assert_eq!(stopped(&mut watch, &mut bochs, (30, TEXT)), Next::Go);
    assert_eq!(stopped(&mut watch, &mut bochs, (40, ENTRY)), Next::Go);
    let stops = watch.take();
    let entry = StopPlace::Entry { address: ENTRY, seen: FUNCTION };
    let places: Vec<_> = stops.iter().map(|stop| stop.place).collect();
    assert_eq!(places, [StopPlace::Begin, entry, StopPlace::Return, entry]);
}

#[test]
fn a_system_call_without_a_function_ends_the_search() {
    let mut bochs = Fake { registers: [("rax", 999)].into(), ..Fake::default() };
    let (mut watch, _) = begun(&mut bochs);
    assert_eq!(stopped(&mut watch, &mut bochs, (20, ENTRY)), Next::Step);
    assert_eq!(stopped(&mut watch, &mut bochs, (60, TEXT)), Next::Go);
    assert_eq!(watch.take()[1].place, StopPlace::Entry { address: ENTRY, seen: 0 });
}

#[test]
fn what_lies_on_the_stack_is_looked_at() {
    let registers = [("rdi", 1), ("rsi", 2)].into();
    let mut bochs = Fake { registers, top: 6, ..Fake::default() };
    let (mut watch, _) = begun(&mut bochs);
    stopped(&mut watch, &mut bochs, (20, FAULT));
    bochs.top = FUNCTION + 9;
    stopped(&mut watch, &mut bochs, (30, SOFTIRQS));
    assert_eq!(bochs.stops.last(), Some(&(FUNCTION + 9)));
    stopped(&mut watch, &mut bochs, (40, FUNCTION + 9));
    stopped(&mut watch, &mut bochs, (50, SWITCH + 1));
    stopped(&mut watch, &mut bochs, (61, TICK + 2));
    let stops = watch.take();
    // The instruction before was the interrupt's first.
    assert_eq!(stops[5].clock, 60);
    let places: Vec<_> = stops.iter().map(|stop| stop.place).collect();
    let expected = [
        StopPlace::Begin,
        StopPlace::Entry { address: FAULT, seen: 6 },
        StopPlace::Entry { address: SOFTIRQS, seen: 0 },
        StopPlace::Back,
        StopPlace::Switch { from: 1, to: 2 },
        StopPlace::Entry { address: TICK, seen: 0 },
    ];
    assert_eq!(places, expected);
}

#[test]
fn a_kernel_that_can_t_be_watched_is_told() {
    let mut bochs = Fake { no_switch: true, ..Fake::default() };
    let mut watch = Watch::new(landmarks(), INIT);
    let begin = *watch.places.iter().find(|(_, place)| **place == Place::Begin).unwrap().0;
    let told = watch.stopped(Halt { clock: 1, address: begin }, &mut bochs);
    assert!(told.unwrap_err().contains("switches tasks"));
    let many = (0..40).map(|number| (TEXT + 0x1000 + number, Look::Nothing)).collect();
    let mut watch = Watch::new(Landmarks { entries: many, ..landmarks() }, INIT);
    let told = watch.stopped(Halt { clock: 1, address: begin }, &mut Fake::default());
    assert!(told.unwrap_err().contains("more places"));
}
