/** A durable process: a workflow that looks after one record for as long as something about it is open. */
export interface Process {
  /** The name of the workflow. */
  readonly name: string
  /** It may end and be needed again for the same record. Of the others there is one run, ever. */
  readonly recurs?: true
}

/** What a workflow is begun with: ids, never what they stand for. */
export interface ProcessInput {
  readonly id: string
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly agentId: string | null
}

/** Operators find the run under the `workflowId` of the record. */
export const workflowIdOf = ({ name }: Process, recordId: string): string => `${name}/${recordId}`

/** What every process looks at: how its record stands, and when it is due to be looked at by itself. */
export interface Look {
  readonly status: string
  /** One line for an operator. */
  readonly summary: string
  /** Nothing more is to be waited for. */
  readonly closed: boolean
  /** How long until the deadline, in the tenant's time; null where there is none. */
  readonly dueInMs: number | null
}

/** The signal that never carries state: it means that the record is to be read again. */
export const LOOK_AGAIN = 'lookAgain'

/** By these an operator finds runs in the list. */
const keyword = (name: string) => ({ name, type: 'KEYWORD' }) as const
export const OWNER_ATTRIBUTE = keyword('AgentPayOwner')
export const AGENT_ATTRIBUTE = keyword('AgentPayAgent')
export const STATUS_ATTRIBUTE = keyword('AgentPayStatus')

export const TASK_QUEUE = 'agentpay'
