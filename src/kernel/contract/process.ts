import type { Cents } from '../../values/money.ts'

/** A durable process: a workflow that looks after one record while something about it is open. */
export interface DurableProcess {
  readonly name: string
  /** Begins the summary of its runs in Temporal's list: `Intent`. */
  readonly title?: string
  readonly details?: string
  /** It may end and be needed again for the same record. Other processes have one run per record, ever. */
  readonly recurs?: true
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

/** The status of a record as its process reads it. It is stored in Temporal: kind, amount, mode and ids, no names. */
export interface ProcessStatus {
  readonly status: string
  readonly summary: string
  readonly closed: boolean
  /** How long until the deadline, in the tenant's time; null where there is none. */
  readonly dueInMs: number | null
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
