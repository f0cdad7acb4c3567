import { type Client, WorkflowUpdateFailedError } from '@temporalio/client'
import type { UpdateAnswer } from '../../../src/kernel/contract/process.ts'
import type { TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import type { Enrolled } from '../identity/people.ts'
import { until } from '../until.ts'

/** The service and its runs, as a story of an operator and a caller needs them. */
export interface Stage {
  readonly client: TestClient
  /** With the dashboard secret. */
  readonly dash: TestClient
  /** A person with a passkey, the same one in all stories. */
  readonly signer: () => Promise<Enrolled>
  readonly sql: TestService['sql']
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  /** Sends an update, and waits until it is answered or refused. */
  update(workflowId: string, name: string, payload: unknown): Promise<unknown>
  /** As the button "Request Cancellation" does. */
  cancel(workflowId: string): Promise<void>
  /** Sends a signal whose payload cannot be decoded. */
  sendUnreadable(workflowId: string, name: string): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof WorkflowUpdateFailedError)) throw error
}

export type Callers = Pick<Stage, 'client' | 'dash' | 'signer' | 'sql'>

export function stageOf(temporal: Client, callers: Callers): Stage {
  const { workflow, workflowService } = temporal
  const handle = (workflowId: string) => workflow.getHandle(workflowId)
  /** The state of the run, without the text about its process, which names states, too. */
  async function stateOf(workflowId: string): Promise<string> {
    const metadata = await handle(workflowId).query<{ currentDetails?: string }>(
      '__temporal_workflow_metadata',
    )
    return metadata.currentDetails?.split('\n\n---\n\n')[0] ?? ''
  }
  return {
    ...callers,
    signal: (workflowId, name, payload) => handle(workflowId).signal(name, payload),
    update: (workflowId, name, payload) =>
      handle(workflowId)
        .executeUpdate<UpdateAnswer, [unknown]>(name, { args: [payload] })
        .catch(unlessRefused),
    cancel: async workflowId => void (await handle(workflowId).cancel()),
    async sendUnreadable(workflowId, signalName) {
      const payloads = [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{') }]
      const workflowExecution = { workflowId }
      await workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution,
        signalName,
        input: { payloads },
      })
    },
    async shows(workflowId, text) {
      await until(text, async () => (await stateOf(workflowId).catch(() => '')).includes(text))
    },
    async ends(workflowId) {
      const isThere = () =>
        handle(workflowId)
          .describe()
          .then(Boolean, () => false)
      await until(`${workflowId} is there`, isThere)
      await handle(workflowId).result()
    },
  }
}
