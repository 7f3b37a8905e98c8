//! Other clients' configs, servers used before and what is remembered of them, read and written off the UI thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::runtime::Runtime;

use super::{Engine, configs, expanded, values, work, wrap};
use crate::state::{Event, ImportEffect, ImportEvent};
use crate::store;

impl Engine {
    pub(super) fn execute_import(&self, runtime: &Runtime, effect: ImportEffect) {
        match effect {
            ImportEffect::ReadRecent(folder) => self.blocking(runtime, move || {
                let recent = store::read_recent(&folder)?;
                Ok(Event::Import(ImportEvent::Recent { folder, recent }))
            }),
            ImportEffect::SaveRecent { folder, recent } => {
                let queue = Arc::clone(&self.queue);
                work::blocking(runtime.handle(), &self.queue, Event::Problem, move || {
                    if let Err(problem) = store::write_recent(&folder, &recent) {
                        queue.push(Event::Problem(problem));
                    }
                });
            }
            ImportEffect::ReadServers(folder) => self.blocking(runtime, move || {
                let known = store::read_servers(&folder)?;
                Ok(Event::Import(ImportEvent::Servers { folder, known }))
            }),
            ImportEffect::KeepServers { folder, changes } => {
                let (queue, waiting, options) = (
                    Arc::clone(&self.queue),
                    Arc::clone(&self.servers),
                    self.history.options(),
                );
                waiting.add(folder, changes);
                work::blocking(runtime.handle(), &self.queue, Event::Problem, move || {
                    let mut kept = BTreeMap::new();
                    let written = waiting.write(|folder, changes| {
                        kept = store::change_servers(
                            folder,
                            values::without_secrets(changes, &options),
                        )?;
                        Ok(())
                    });
                    queue.push(match written {
                        Ok(()) => Event::Import(ImportEvent::ServersKept(kept)),
                        Err(problem) => Event::Problem(problem),
                    });
                });
            }
            ImportEffect::FindValues { key } => self.values(runtime).find(key),
            ImportEffect::KeepValues { key, values } => self.values(runtime).keep(key, values),
            ImportEffect::ForgetValues { key } => self.values(runtime).forget(key),
            ImportEffect::Look => self.blocking(runtime, || {
                Ok(Event::Import(ImportEvent::Found(configs::look())))
            }),
            ImportEffect::ReadConfig(path) => self.blocking(runtime, move || {
                let path = expanded(path);
                let read = configs::read(&path);
                Ok(Event::Import(ImportEvent::Read { path, read }))
            }),
            ImportEffect::PrepareWrap { kind, server, path } => {
                self.blocking(runtime, move || {
                    let prepared = wrap::prepare(kind, path, server)?;
                    let prepared = Box::new(prepared);
                    Ok(Event::Import(ImportEvent::WrapPrepared(prepared)))
                });
            }
            ImportEffect::WriteWrap(prepared) => self.blocking(runtime, move || {
                wrap::write(&prepared)?;
                Ok(Event::Import(ImportEvent::WrapWritten(prepared)))
            }),
            ImportEffect::KnownValues { placeholders, file } => {
                self.blocking(runtime, move || {
                    Ok(Event::Import(ImportEvent::ValuesKnown(configs::values(
                        &placeholders,
                        file.as_deref(),
                    ))))
                });
            }
        }
    }

    fn values<'a>(&'a self, runtime: &'a Runtime) -> values::Values<'a> {
        values::Values {
            runtime: runtime.handle(),
            queue: &self.queue,
            keychain: self.provider.uses_keychain(),
        }
    }
}
