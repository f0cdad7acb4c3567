import type { Cents } from '../../values/money.ts'

/** A durable process: a workflow that looks after one record while something about it is open. */
export interface DurableProcess {
  readonly name: string
  /** Begins the summary of its runs in Temporal's list: `Intent`. */
  readonly title?: string
  readonly details?: string
  /** It may end and be needed again for the same record. Other processes have one run per record, ever. */
  readonly recurs?: true
  /** It gathers what is there, and moves no money: its runs come after those that do. */
  readonly isReport?: true
  /** A record in one of these statuses is new: it has no run yet. */
  readonly newIn?: readonly string[]
}

export interface ProcessInput {
  readonly id: string
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly agentId: string | null
  /** The span that started the run. */
  readonly traceparent?: string
}

/** What else Temporal's list of runs shows from the start. The workflow itself does not get it. */
export interface ProcessStartInput extends ProcessInput {
  readonly summary?: string
  readonly status?: string
  /** In euros. */
  readonly amount?: number
  /** ISO 8601, by the clock of the record's owner. */
  readonly deadline?: string
}

/** Input of the run's summary, which contains no name of a person or payee. */
export interface ProcessRecord {
  readonly id: string
  readonly agentId: string | null
  readonly status?: string
  readonly amountCents?: Cents
  readonly dueAt?: Date | null
  readonly expiresAt?: Date | null
  /** Ids in place of an amount: `agent.created to webhook_…`. */
  readonly about?: string
}

export const workflowIdOf = ({ name }: DurableProcess, recordId: string): string => `${name}/${recordId}`

/**
 * The status of a record as its process reads it. It is stored in Temporal: kind, amount, mode, ids and the host of a webhook's
 * receiver, no names.
 */
export interface ProcessStatus {
  readonly status: string
  readonly summary: string
  readonly closed: boolean
  /** How long until the deadline, in the tenant's time; null where there is none. */
  readonly dueInMs: number | null
  /**
   * When it was read, in real time. A run has no such time of its own: in a replay it may see a state in another workflow task,
   * whose time is another.
   */
  readonly readAtMs?: number
  /** Since when its money has an unknown outcome, in the tenant's time (ISO 8601); null where the outcome is known. */
  readonly doubtfulSince?: string | null
  /** As people read it: `21 Nov 09:30 UTC`. */
  readonly deadline?: string | null
  /** Completes "it waits": `for a person’s approval, until 21 Nov 09:30 UTC`. */
  readonly waitsFor?: string | null
  readonly signals?: readonly string[]
  readonly page?: string
  /** What happened outside the run, a line each. */
  readonly steps?: readonly string[]
}

/** Sent by the relay. It carries no state: the run reads the record again. */
export const RECORD_CHANGED_SIGNAL = 'recordChanged'

export const DECISION_PAYLOAD_EXAMPLE = '{"by": "your name", "reason": "why"}'

/** A name, which is unproven, and a reason. */
interface DecisionPayload {
  readonly by: string
  readonly comment: string | undefined
}

/**
 * Reads the payload of a signal or an update, which has the reason as `comment` or `reason`; undefined for anything else.
 * Workflows have no zod.
 */
export function readDecision(payload: unknown): DecisionPayload | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined
  const { by: name, comment, reason, ...others } = payload as Readonly<Record<string, unknown>>
  const remarks = [comment, reason].filter(given => given !== undefined)
  const [by, ...texts] = [readText(name, 200), ...remarks.map(remark => readText(remark, 1_000))]
  const isLegible = texts.length <= 1 && !texts.includes(undefined) && Object.keys(others).length === 0
  return by !== undefined && isLegible ? { by, comment: texts[0] } : undefined
}

/** PostgreSQL stores neither U+0000 nor half of a character. */
function readText(given: unknown, longest: number): string | undefined {
  const text = typeof given === 'string' ? given.trim() : ''
  const isStorable = text.isWellFormed() && !text.includes('\0')
  return text !== '' && text.length <= longest && isStorable ? text : undefined
}

/** What the caller of an update that was carried out gets: the status of the record after it, and a line about it. */
export interface UpdateAnswer {
  readonly status: string
  readonly line: string
}

/** Activities by name. */
export type BoundActivities = Readonly<Record<string, (input: never) => Promise<unknown>>>

/** Why a run refuses an update at once, without an event in its history. */
export type UpdateRefusal = 'malformed' | 'ended'

/**
 * The activities that a worker takes apart, each with slots of their own: decisions on PostgreSQL have the queue of
 * the workflows, so that calls that hang hold up no decision.
 */
export const callsQueueOf = (queue: string): string => `${queue}-calls`
export const webhooksQueueOf = (queue: string): string => `${queue}-webhooks`

/**
 * How Temporal's list of runs finds them. A namespace gets them from `temporal-config/search-attributes.json`.
 */
const keyword = (name: string) => ({ name, type: 'KEYWORD' }) as const
export const OWNER_SEARCH_ATTRIBUTE = keyword('AgentPayOwner')
export const AGENT_SEARCH_ATTRIBUTE = keyword('AgentPayAgent')
export const STATUS_SEARCH_ATTRIBUTE = keyword('AgentPayStatus')
export const MODE_ATTRIBUTE = keyword('AgentPayMode')
export const AMOUNT_ATTRIBUTE = { name: 'AgentPayAmount', type: 'DOUBLE' } as const
export const DEADLINE_ATTRIBUTE = { name: 'AgentPayDeadline', type: 'DATETIME' } as const
export const DOUBTFUL_SINCE_ATTRIBUTE = { name: 'AgentPayDoubtfulSince', type: 'DATETIME' } as const
