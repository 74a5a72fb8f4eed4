//! Which instructions the program plugin counts as events of their own, as a table for it. Returns
//! that a processor mispredicts have a class too, although no form of an instruction tells them:
//! the plugin keeps a return stack if the table says so. The same holds of the turns of tasks,
//! which no instruction is.
//!
//! What an instruction is, is decided in one place (`code.rs`). The plugin can't ask while it
//! translates code, so it is handed the answer for every form of an opcode that matters;
//! `plugin/program/classes.h` describes the table and looks up in it.

use crate::arch::census::SlowInstruction;
use crate::arch::code::event_of;
use crate::event::Event;

/// First bytes of the table, with its version.
const HEADER: [u8; 8] = *b"PMCL\x03\0\0\0";
/// The prefix of a form, by its number.
const PREFIXES: [Option<u8>; 4] = [None, Some(0x66), Some(0xf3), Some(0xf2)];
/// Bytes after the opcode: more than any instruction has.
const REST: usize = 11;

/// A map of opcodes, and its number in the table.
#[derive(Clone, Copy)]
enum Map {
    /// The escape bytes before the opcode.
    Legacy(u8, &'static [u8]),
    /// The number of the map in a VEX prefix.
    Vex(u8, u8),
}

const MAPS: [Map; 7] = [
    Map::Legacy(0, &[]),
    Map::Legacy(1, &[0x0f]),
    Map::Legacy(2, &[0x0f, 0x38]),
    Map::Legacy(3, &[0x0f, 0x3a]),
    Map::Vex(4, 1),
    Map::Vex(5, 2),
    Map::Vex(6, 3),
];

/// The turns of tasks, in the order of `enum turn` in `plugin/program/classes.h`.
const TURNS: [Event; 3] = [Event::Sleeps, Event::Preemptions, Event::WakeUps];

/// The events that are classes of instructions, and then the turns, by their number in the table
/// and in the stream.
pub(crate) fn classes() -> impl ExactSizeIterator<Item = Event> + Clone {
    const OTHERS: [Event; 2] = [Event::IndirectBranches, Event::MispredictedReturns];
    const SLOW: usize = SlowInstruction::ALL.len();
    (0..SLOW + OTHERS.len() + TURNS.len()).map(|number| match number.checked_sub(SLOW) {
        None => Event::Slow(SlowInstruction::ALL[number]),
        Some(other) => OTHERS.get(other).copied().unwrap_or_else(|| TURNS[other - OTHERS.len()]),
    })
}

/// The table, as `plugin/program/classes.h` reads it; `returns` tells whether those that a
/// processor mispredicts are counted.
pub fn class_table(returns: bool) -> Vec<u8> {
    let locked = number(Event::Slow(SlowInstruction::Locked));
    let mispredicted = if returns { number(Event::MispredictedReturns) } else { 0 };
    let mut table = HEADER.to_vec();
    table.extend([u8::try_from(classes().len()).unwrap_or(u8::MAX), locked, mispredicted]);
    table.extend(TURNS.map(number));
    for map in MAPS {
        for opcode in 0..=u8::MAX {
            if may_have_class(map, opcode) {
                table.extend([map.number(), opcode]);
                table.extend(forms().map(|form| class(map, opcode, form)));
            }
        }
    }
    table
}

/// What of an instruction decides on its class, beside the opcode.
#[derive(Clone, Copy)]
struct Form {
    prefix: u8,
    wide: bool,
    next: u8,
}

/// All forms, in the order of the table.
fn forms() -> impl Iterator<Item = Form> {
    let variants = (0..4).flat_map(|prefix| [false, true].map(|wide| (prefix, wide)));
    variants.flat_map(|(prefix, wide)| (0..=u8::MAX).map(move |next| Form { prefix, wide, next }))
}

/// Whether some form of the opcode has a class: of the byte after it, the middle bits choose
/// another instruction, and the others too only if the operand is no memory.
fn may_have_class(map: Map, opcode: u8) -> bool {
    let nexts = (0..8).map(|middle| middle << 3).chain(0xc0..=0xff);
    let variants = (0..4).flat_map(|prefix| [false, true].map(|wide| (prefix, wide)));
    let mut forms = variants
        .flat_map(|(prefix, wide)| nexts.clone().map(move |next| Form { prefix, wide, next }));
    forms.any(|form| class(map, opcode, form) != 0)
}

/// The class of this form, from 1; 0 for none.
fn class(map: Map, opcode: u8, form: Form) -> u8 {
    event_of(&map.instruction(opcode, form)).map_or(0, number)
}

fn number(event: Event) -> u8 {
    let place = classes().position(|class| class == event);
    place.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or(0)
}

impl Map {
    fn number(self) -> u8 {
        match self {
            Self::Legacy(number, _) | Self::Vex(number, _) => number,
        }
    }

    /// An instruction of this form; what comes after its end does not matter.
    fn instruction(self, opcode: u8, form: Form) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(16);
        match self {
            Self::Legacy(_, escapes) => {
                bytes.extend(PREFIXES[usize::from(form.prefix & 3)]);
                bytes.extend(form.wide.then_some(0x48));
                bytes.extend(escapes);
            }
            // Intel SDM volume 2, 2.3.5: no register is extended, and vvvv is unused.
            Self::Vex(_, map) => {
                bytes.extend([0xc4, 0xe0 | map, u8::from(form.wide) << 7 | 0x78 | form.prefix]);
            }
        }
        bytes.extend([opcode, form.next]);
        bytes.extend([0; REST]);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::c_header::constants;

    /// The table's forms, by map and opcode.
    fn table() -> HashMap<(u8, u8), Vec<u8>> {
        let forms = 4 * 2 * 256;
        let records = class_table(true)[14..].to_vec();
        assert_eq!(records.len() % (2 + forms), 0);
        records.chunks(2 + forms).map(|one| ((one[0], one[1]), one[2..].to_vec())).collect()
    }

    fn sorted(events: impl Iterator<Item = Event>) -> impl Iterator<Item = Event> {
        let mut all: Vec<Event> = events.collect();
        all.sort_by_key(|event| event.index());
        all.into_iter()
    }

    #[test]
    fn the_plugin_has_room_for_it() {
        let plugin = constants("program/classes.h");
        assert!(classes().len() as u64 <= plugin["MOST_CLASSES"]);
        assert_eq!(constants("arch/x86_64/form.h")["CLASS_MAPS"], MAPS.len() as u64);
        let told = Event::all().filter(|it| it.is_class() || it.is_of_tasks());
        assert!(told.eq(sorted(classes())));
        let turns = ["SLEPT", "PREEMPTED", "WOKE", "TURNS"].map(|name| plugin[name]);
        assert_eq!(turns, [0, 1, 2, TURNS.len() as u64]);
        assert_eq!(forms().count(), 4 * 2 * 256);
        assert_eq!(usize::from(class_table(false)[8]), classes().len());
        let mispredicted = [false, true].map(|returns| class_table(returns)[10]);
        assert_eq!(mispredicted.map(usize::from), [0, classes().len() - TURNS.len()]);
        let last = classes().skip(classes().len() - TURNS.len());
        assert!(last.eq(TURNS), "{:?}", &class_table(true)[11..14]);
    }

    #[test]
    fn each_class_has_an_instruction_in_it() {
        let table = table();
        let has = |number: u8| table.values().any(|forms| forms.contains(&number));
        for (event, number) in classes().zip(1..) {
            // Whether a return is mispredicted is not told by its form.
            let has_form = event != Event::MispredictedReturns && !event.is_of_tasks();
            assert_eq!(has(number), has_form, "{event}");
        }
    }

    #[test]
    fn prefixes_operands_and_the_byte_after_the_opcode_decide() {
        let table = table();
        let of = |map: u8, opcode: u8, prefix: usize, wide: usize, next: usize| {
            let forms = table.get(&(map, opcode))?;
            let number = usize::from(forms[(prefix << 1 | wide) << 8 | next]);
            number.checked_sub(1).and_then(|at| classes().nth(at)).map(Event::word)
        };
        assert_eq!(of(0, 0xfa, 0, 0, 0), Some("cli"));
        assert_eq!(of(0, 0x90, 0, 0, 0), None);
        assert_eq!(of(0, 0x90, 2, 0, 0), Some("pause"));
        assert_eq!(of(0, 0xf7, 0, 1, 0xf1), Some("div-64"));
        assert_eq!(of(0, 0xf7, 0, 0, 0xf1), Some("div"));
        assert_eq!(of(0, 0xf7, 0, 0, 0xc1), None);
        assert_eq!(of(0, 0x87, 0, 0, 0xc1), None);
        assert_eq!(of(0, 0x87, 0, 0, 0x01), Some("locked"));
        assert_eq!(of(0, 0xa4, 0, 0, 0), None);
        assert_eq!(of(0, 0xa4, 2, 1, 0), Some("rep"));
        assert_eq!(of(0, 0xff, 0, 0, 0xd0), Some("indirect-branches"));
        assert_eq!(of(0, 0xff, 0, 0, 0xc0), None);
        assert_eq!(of(1, 0x22, 0, 0, 0xd8), Some("mov-cr3"));
        assert_eq!(of(1, 0x22, 0, 0, 0xe0), Some("mov-control"));
        assert_eq!(of(1, 0x00, 0, 0, 0x28), Some("verw"));
        assert_eq!(of(1, 0x01, 0, 0, 0xf8), Some("swapgs"));
        assert_eq!(of(1, 0x01, 0, 0, 0xcb), Some("stac"));
        assert_eq!(of(2, 0x82, 1, 0, 0x00), Some("invpcid"));
    }
}
