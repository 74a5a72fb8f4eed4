//! `pathmeter.boots/1`: sessions of several boots of one kernel.
//!
//! Two kernels can't be measured in one boot, and boots of one kernel differ by where its data
//! lies. So between kernels the boot is the replicate; but no number of boots of one build shows
//! what another layout of its code would take.

use std::slice;

use pathmeter_seal::schema_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::bounds::bounded;
use crate::reading::read::read;
use crate::times::parse::check_times;
use crate::{Host, ParseError, Times, TimesConfiguration};

/// Most boots in a document.
const MAX_BOOTS: usize = 1000;

schema_name!(pub BootsSchema = "pathmeter.boots/1");

/// A session of each of several boots.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Boots {
    pub schema: BootsSchema,
    /// The sessions, in the order in which they were added; at least one.
    pub boots: Vec<Times>,
}

impl Boots {
    /// Adds a session.
    ///
    /// # Errors
    /// What keeps it from being another boot of the same.
    pub fn add(&mut self, times: Times) -> Result<(), String> {
        self.refuse(&times.host, &times.conditions)?;
        if let Some(first) = self.boots.first() {
            let [first, next] =
                [first, &times].map(|it| TimesConfiguration::of(slice::from_ref(it)));
            let differing = first.zip(next).map(|(first, next)| first.differences(&next));
            if let Some(one) = differing.into_iter().flatten().next() {
                return Err(another(&one.field, &one.base, &one.new));
            }
        }
        self.boots.push(times);
        Ok(())
    }

    /// Refuses a boot that can't be added, as far as that is known before it is measured.
    ///
    /// # Errors
    /// The reason.
    pub fn refuse(&self, host: &Host, conditions: &[String]) -> Result<(), String> {
        if self.boots.len() >= MAX_BOOTS {
            return Err(format!("there are {MAX_BOOTS} boots already"));
        }
        let first = self.boots.first();
        if let Some(why) =
            first.and_then(|it| not_the_same((&it.host, &it.conditions), (host, conditions)))
        {
            return Err(why);
        }
        if self.boots.iter().any(|boot| boot.host.boot_id == host.boot_id) {
            return Err("this boot is there already; boot again".to_owned());
        }
        Ok(())
    }
}

/// A host and what it was measured under.
type Side<'a> = (&'a Host, &'a [String]);

/// In what two boots differ that are not of one kernel on one machine.
fn not_the_same(first: Side<'_>, next: Side<'_>) -> Option<String> {
    let of = |(host, conditions): Side<'_>| {
        [
            ("kernel", host.kernel.clone() + " " + &host.build_id),
            ("command line", host.command_line.clone()),
            ("processor", host.processor.clone()),
            ("CPU", host.cpu.to_string()),
            ("condition", conditions.join(", ")),
        ]
    };
    let mut sides = of(first).into_iter().zip(of(next));
    let ((what, first), (_, next)) = sides.find(|((_, first), (_, next))| first != next)?;
    Some(another(what, &first, &next))
}

fn another(what: &str, first: &str, next: &str) -> String {
    format!("the {what} is another one: {next}, where the first boot's is {first}")
}

/// Reads boots from the bytes of a file.
///
/// # Errors
/// Any [`ParseError`], as of times; or a session is no other boot of the same.
pub fn parse_boots(bytes: &[u8]) -> Result<Boots, ParseError> {
    let read: Boots = read(bytes, "pathmeter.boots/1")?;
    bounded("number of boots", read.boots.len(), MAX_BOOTS)?;
    let wrong = |what| ParseError::Field { field: "boots".to_owned(), what };
    let mut boots = Boots::default();
    for times in read.boots {
        check_times(&times)?;
        boots.add(times).map_err(wrong)?;
    }
    if boots.boots.is_empty() {
        return Err(wrong("are none".to_owned()));
    }
    Ok(boots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn boot(boot_id: &str, ticks: u64) -> Times {
        let mut times = example::times(&[("a.b", 10, &[ticks; 3])]);
        times.host.boot_id = boot_id.to_owned();
        times
    }

    #[test]
    fn boots_are_read_back() {
        let mut boots = Boots::default();
        boots.add(boot("1", 3050)).unwrap();
        boots.add(boot("2", 3060)).unwrap();
        assert_eq!(parse_boots(&serde_json::to_vec(&boots).unwrap()).unwrap(), boots);
    }

    #[test]
    fn another_kernel_and_the_same_boot_are_refused() {
        let mut boots = Boots::default();
        boots.add(boot("1", 3050)).unwrap();
        let error = boots.add(boot("1", 3050)).unwrap_err();
        assert!(error.contains("boot again"), "{error}");
        let mut other = boot("2", 3050);
        other.host.build_id = "b".into();
        let error = boots.add(other).unwrap_err();
        assert!(error.contains("the kernel is another one"), "{error}");
        let mut other = boot("2", 3050);
        other.host.governor = "powersave".into();
        let error = boots.add(other).unwrap_err();
        assert!(error.contains("the governor is another one: powersave"), "{error}");
        assert_eq!(boots.boots.len(), 1);
    }

    #[test]
    fn no_boots_and_boots_that_contradict_themselves_are_refused() {
        let read = |boots: &Boots| parse_boots(&serde_json::to_vec(boots).unwrap());
        assert!(read(&Boots::default()).is_err());
        let mut wrong = boot("1", 3050);
        wrong.method.ticks_per_second = 0;
        assert!(read(&Boots { boots: vec![wrong], ..Boots::default() }).is_err());
        let twice = vec![boot("1", 3050), boot("1", 3050)];
        assert!(read(&Boots { boots: twice, ..Boots::default() }).is_err());
    }
}
