import { type EventStreams, type EventStreamTimes, eventStreams } from '../delivery/events/index.ts'
import { CredentialWatch } from '../derive/http/credential-watch.ts'
import type { CredentialLookup } from '../derive/http/credentials.ts'
import type { ProcessLeases } from '../kernel/database/process-lease.ts'
import type { EventRow } from '../kernel/journal/journal.ts'
import type { OpenDatabase } from '../platform/database.ts'
import type { ChannelListener } from '../platform/listener.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'

interface FollowingParts {
  readonly database: OpenDatabase
  readonly listener: ChannelListener
  readonly leases: ProcessLeases
  readonly credentials: CredentialLookup
  readonly times: Partial<EventStreamTimes>
  readonly log: Logger
  readonly metrics: Metrics
}

export interface EventFollowing {
  readonly streams: EventStreams
  readonly credentialWatch: CredentialWatch
  onEvents(events: readonly EventRow[]): void
}

export function openEventFollowing({
  database,
  listener,
  leases,
  credentials,
  times,
  log,
  metrics,
}: FollowingParts): EventFollowing {
  const credentialWatch = new CredentialWatch(credentials.endings)
  const endCredentials = (events: readonly { readonly event: string }[]): void => {
    credentials.onEvents(events)
    credentialWatch.onEvents(events)
  }
  const streams = eventStreams({
    database,
    listen: (channel, onNotice) => listener.on(channel, onNotice),
    leases,
    times,
    onEvents: endCredentials,
    onFailure: error => log.warn({ err: error }, 'streams: the journal cannot be read'),
  })
  metrics.watch('event_streams', 'Event streams that are open in this process.', async () => streams.count())
  return {
    streams,
    credentialWatch,
    onEvents(events) {
      endCredentials(events)
      streams.onEvents(events)
    },
  }
}
