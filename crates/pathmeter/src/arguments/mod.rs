//! Arguments that several verbs have.

mod document;
mod edited;
mod explanation;
mod formats;
mod guest;
mod percent;
mod program;
mod results;
mod rows;
mod variable;
mod vmlinux;
mod words;

pub(crate) use document::DocumentArgs;
pub(crate) use edited::EditedArg;
pub(crate) use explanation::ExplainOutput;
pub(crate) use formats::{FormatArgs, GateArgs, of_page};
pub(crate) use guest::{GuestArgs, LONGEST, TIMEOUT};
pub(crate) use percent::percent;
pub(crate) use program::{FilesArgs, PackingArgs, ProbeArgs, WindowArgs};
pub(crate) use results::ResultsArg;
pub(crate) use rows::{OnlyArg, RowArgs, SumArg};
pub(crate) use variable::variable;
pub(crate) use vmlinux::VmlinuxArgs;
pub(crate) use words::{Words, words};
