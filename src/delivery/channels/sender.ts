import { forgetEmailedLink } from '../../identity/people/index.ts'
import { ClaimedWork } from '../../kernel/background/claimed-work.ts'
import type { RunningService, Systems } from '../../kernel/contract/ports.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../kernel/database/process-lease.ts'
import { minutes } from '../../values/clock.ts'
import { type ComposedMessage, composeMessage } from './compose.ts'
import { emailParts, slackBody, teamsBody } from './formats.ts'
import {
  type ChannelMessage,
  claimMessages,
  deleteMessage,
  deleteOldMessages,
  isLastQuestion,
  type MessageKind,
  retryMessage,
  takePlace,
} from './message-rows.ts'

interface Parts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly systems: Pick<Systems, 'outbound' | 'vault' | 'mail'>
  readonly service: Pick<RunningService, 'pageUrl'>
  readonly onFailure: (error: unknown) => void
  /** Counts messages that arrived, or are not sent again. */
  readonly onMessage: (kind: MessageKind, outcome: 'sent' | 'retried' | 'dropped') => void
}

/** After the last one the message is dropped; the inbox has what waits. */
const WAITS_MS = [minutes(0.5), minutes(2), minutes(8), minutes(30)]

const MOST = { ofAll: 16, ofOwner: 4 }

const ANSWERED_WITHIN_MS = 10_000
const READ_BYTES = 1_024

type Outcome = 'sent' | 'failed' | 'refused'

/** Sends waiting messages to people. Any number of processes may run it. */
export class ChannelSender {
  readonly #parts: Parts
  readonly #work: ClaimedWork<ChannelMessage>
  #hasOld = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { lease, onFailure } = parts
    this.#work = new ClaimedWork({
      lease,
      onFailure,
      claim: held => this.#claim(held),
      serve: message => this.#serve(message),
    })
  }

  readonly wake = (): void => this.#work.wake()

  /** Deletes old messages, and finds those whose notice was lost. */
  readonly round = (): void => {
    this.#hasOld = true
    this.wake()
  }

  get hasClaims(): boolean {
    return this.#work.underWay.length > 0
  }

  stop(): Promise<void> {
    return this.#work.stop()
  }

  async #claim(held: string): Promise<readonly ChannelMessage[]> {
    const sql = sqlOn(this.#parts.database.pool)
    if (this.#hasOld) await this.#dropOld(sql)
    this.#hasOld = false
    const ofAll = MOST.ofAll - this.#work.underWay.length
    const busyOwners = this.#work.ownersWith(MOST.ofOwner)
    return ofAll > 0 ? claimMessages(sql, { busyOwners, ofOwner: MOST.ofOwner, ofAll }, held) : []
  }

  async #dropOld(sql: Sql): Promise<void> {
    const old = await deleteOldMessages(sql)
    await Promise.all(old.map(message => noteOutcome(sql, message, false)))
    for (const { kind } of old) this.#parts.onMessage(kind, 'dropped')
  }

  async #serve(message: ChannelMessage): Promise<void> {
    const { database, onMessage } = this.#parts
    const sql = sqlOn(database.pool)
    const { ownerId, mode, kind } = message
    const composed = await composeMessage(message, { ...this.#parts, sql, tenant: { ownerId, mode } })
    // What is not to be sent takes no place in the hour.
    const place = composed && (await takePlace(sql, message))
    if (!composed || place === undefined) {
      await forgetLink(sql, message)
      return void (await deleteMessage(sql, message))
    }
    const outcome = await this.#send(message, composed, isLastQuestion(message, place))
    const waitMs = WAITS_MS[message.attempts - 1]
    if (outcome === 'failed' && waitMs !== undefined) {
      onMessage(kind, 'retried')
      return void (await retryMessage(sql, message, waitMs))
    }
    onMessage(kind, outcome === 'sent' ? 'sent' : 'dropped')
    await Promise.all([deleteMessage(sql, message), noteOutcome(sql, message, outcome === 'sent')])
  }

  async #send(message: ChannelMessage, composed: ComposedMessage, isLastOfHour: boolean): Promise<Outcome> {
    const { to } = composed
    const contents = composed.contents(isLastOfHour)
    const { mail, outbound } = this.#parts.systems
    if (to.type === 'email') {
      // The settings may have changed since: the message can wait for them to come back.
      if (!mail) return 'failed'
      const sent = await mail.send({ to: to.address, id: message.id, ...emailParts(contents) })
      if (sent.kind === 'accepted') return 'sent'
      return sent.isFinal ? 'refused' : 'failed'
    }
    const [content] = contents
    if (!content) return 'refused'
    const answer = await outbound.send({
      url: to.url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(to.type === 'slack' ? slackBody(content) : teamsBody(content)),
      timeoutMs: ANSWERED_WITHIN_MS,
      maxBytes: READ_BYTES,
    })
    if (answer.kind === 'refused') return 'refused'
    return answer.kind === 'answered' ? outcomeOfStatus(answer.status) : 'failed'
  }
}

/** A redirect is not followed, and a webhook that was deleted does not come back. */
function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return 'sent'
  return status === 429 || status >= 500 ? 'failed' : 'refused'
}

/** A link, whose message has no channel, is stored only until it has been sent, or given up. */
const forgetLink = async (sql: Sql, message: ChannelMessage): Promise<void> => {
  const { ownerId, mode, subjectId, channelId } = message
  if (channelId === null) await forgetEmailedLink(subjectId, { sql, tenant: { ownerId, mode } })
}

/** Shows at the channel whether it works. */
async function noteOutcome(sql: Sql, message: ChannelMessage, isSent: boolean): Promise<void> {
  const { ownerId, mode, channelId } = message
  if (channelId === null) return forgetLink(sql, message)
  await sql(NOTE_OUTCOME, [ownerId, mode, channelId, isSent])
}

const NOTE_OUTCOME = `
update channels set failed_at = case when $4::boolean then null else clock_timestamp() end
where (owner_id, mode, id) = ($1, $2, $3) and (failed_at is not null or not $4::boolean)`
