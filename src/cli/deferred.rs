//! The arguments of a subcommand, described to clap only once that subcommand is chosen: to describe them all takes as
//! long as a small server takes to answer. The general options are added to those that do not describe them.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// The arguments of a subcommand.
#[derive(Debug)]
pub struct Deferred<T>(pub T);

impl<T> Deref for Deferred<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// Groups of arguments bring a description of their own, which is not the subcommand's.
fn keeping_about(command: Command, augment: fn(Command) -> Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    with_general(augment(command).about(Resettable::from(about)).long_about(Resettable::from(long_about)))
}

/// Scripts set the general options once for all, so every command takes them; its help lists those that it heeds.
fn with_general(command: Command) -> Command {
    if command.has_subcommands() {
        return command.mut_subcommands(with_general);
    }
    let general = [
        Arg::new("quiet").long("quiet").action(ArgAction::SetTrue),
        Arg::new("data_dir").long("data-dir").value_name("DIR"),
        Arg::new("limit").long("limit").value_name("NAME=VALUE").action(ArgAction::Append),
    ];
    let is_lacking = |general: &Arg| command.get_arguments().all(|own| own.get_long() != general.get_long());
    let lacking: Vec<Arg> = general.into_iter().filter(is_lacking).map(|arg| arg.hide(true)).collect();
    command.args(lacking)
}

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args_for_update))
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}
