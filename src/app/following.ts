import { Admissions } from '../derive/http/admissions.ts'
import type { Credentials } from '../derive/http/credentials.ts'
import type { EventRow } from '../kernel/journal/journal.ts'
import type { OpenDatabase } from '../platform/database.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { type EventStreams, eventStreams, type StreamTimes } from './event-streams.ts'

interface Parts {
  readonly database: OpenDatabase
  readonly settings: { readonly databaseUrl: string }
  readonly credentials: Credentials
  readonly times: Partial<StreamTimes>
  readonly log: Logger
  readonly metrics: Metrics
}

export interface Following {
  readonly streams: EventStreams
  /** Ends endless answers whose callers would be refused. */
  readonly admissions: Admissions
  /** To be called with the events that this process has committed. */
  onEvents(events: readonly EventRow[]): void
}

/** Opens the streams. What they read of other processes may end credentials here, too. */
export function openFollowing({ database, settings, credentials, times, log, metrics }: Parts): Following {
  const admissions = new Admissions(credentials.endings)
  const endCredentials = (events: readonly { readonly event: string }[]): void => {
    credentials.onEvents(events)
    admissions.onEvents(events)
  }
  const streams = eventStreams({
    database,
    databaseUrl: settings.databaseUrl,
    times,
    onEvents: endCredentials,
    onFailure: error => log.warn({ err: error }, 'streams: the journal cannot be read'),
  })
  metrics.watch('event_streams', 'Streams of events that are open here.', async () => streams.count())
  return {
    streams,
    admissions,
    onEvents(events) {
      endCredentials(events)
      streams.onEvents(events)
    },
  }
}
