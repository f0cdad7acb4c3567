/** A durable process: a workflow that looks after one record for as long as something about it is open. */
export interface Process {
  /** The name of the workflow. */
  readonly name: string
  /** Names the kind of record at the beginning of its runs' line in the list: `Intent`. */
  readonly title?: string
  /** Markdown above each of its runs: what the run does, and what an operator can do about it. */
  readonly details?: string
  /** It may end and be needed again for the same record. Of the others there is one run, ever. */
  readonly recurs?: true
}

/** Input of a workflow: ids, never what they stand for. */
export interface ProcessInput {
  readonly id: string
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly agentId: string | null
}

/** With the line of the run in the list, which the workflow is not given. */
export interface StartInput extends ProcessInput {
  readonly summary?: string
}

/** Record of a process, with what the line of its run may say of it: no name of a person or payee. */
export interface ProcessRecord {
  readonly id: string
  readonly agentId: string | null
  readonly amountCents?: bigint
  /** Ids in place of an amount: `agent.created to webhook_…`. */
  readonly about?: string
}

/** Operators find the run under the `workflowId` of the record. */
export const workflowIdOf = ({ name }: Process, recordId: string): string => `${name}/${recordId}`

/** Status of a record as its process reads it. What it holds stays in Temporal: kind, amount, mode and ids, no names. */
export interface ProcessStatus {
  readonly status: string
  /** One line for an operator. */
  readonly summary: string
  /** Nothing more is to be waited for. */
  readonly closed: boolean
  /** How long until the deadline, in the tenant's time; null where there is none. */
  readonly dueInMs: number | null
  /** Completes "it waits": `for a person’s approval, until 21 Nov 09:30 UTC`. */
  readonly waitsFor?: string | null
  /** The signals that change something just now. */
  readonly signals?: readonly string[]
  /** What has happened outside the run: each becomes a line of its timeline. */
  readonly steps?: readonly string[]
}

/** Sent by the relay. It carries no state: the record is to be read again. */
export const RECORD_CHANGED = 'recordChanged'

/** Payload of a signal by which a person decides. */
export const DECISION_PAYLOAD = '{"by": "your name", "reason": "why"}'

/** A signal of operators, and the operation that it runs. */
export interface ProcessSignal {
  /** One sentence: what the signal does. */
  readonly effect: string
  readonly operation: string
  /** Body of the operation; the comment alone, if left out. */
  readonly body?: (by: string, comment: string | undefined) => object
}

/** An activity that runs one operation, which changes nothing where nothing is due. */
export interface ProcessStep {
  readonly operation: string
  /** What it is for: its line in the timeline of the run. */
  readonly summary: string
  readonly body?: object
  readonly timeoutMs?: number
}

/** A process whose run follows one record: its activities and signals, each with the operation that it runs. */
export interface RecordProcess extends Process {
  readonly read: {
    readonly activity: string
    readonly operation: string
    /** Read where the record is closed to the operation above. */
    readonly whenClosed?: string
    readonly summary: string
  }
  /** The activity that carries out a signal. */
  readonly decide?: string
  readonly signals?: Readonly<Record<string, ProcessSignal>>
  /** Its signals carry no name, and run their operations as the process. */
  readonly withoutPayload?: true
  /** What its signals decide may open live money, in test mode too. */
  readonly opensLiveMoney?: true
  readonly steps: Readonly<Record<string, ProcessStep>>
}

export const isRecordProcess = (process: Process): process is RecordProcess => 'read' in process

/** What a step answered: whether nothing is left of it, where the operation says so. */
export interface StepResult {
  readonly done: boolean
}

/** By these an operator finds runs in the list. */
const keyword = (name: string) => ({ name, type: 'KEYWORD' }) as const
export const OWNER_ATTRIBUTE = keyword('AgentPayOwner')
export const AGENT_ATTRIBUTE = keyword('AgentPayAgent')
export const STATUS_ATTRIBUTE = keyword('AgentPayStatus')
