import { bodyOf, type TestClient } from '../factories.ts'
import { assertion, type Enrolled } from '../identity/people.ts'

interface Stage {
  readonly client: TestClient
  readonly dash: TestClient
  readonly signer: () => Promise<Enrolled>
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  cancel(workflowId: string): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A recovery that can be stopped. */
async function underWay({ client, dash, signer, shows }: Stage) {
  const subject = { name: 'Grace Hopper', email: null, role: 'owner' } as const
  const webauthnAssertion = await assertion(client, await signer(), { purpose: 'invitation', subject })
  const { id } = await bodyOf(client.people.create({ body: { ...subject, webauthnAssertion } }))
  const { recovery } = await bodyOf(dash.people.recover({ params: { id } }))
  const workflowId = String(recovery?.workflowId)
  await shows(workflowId, 'for the 24 hours in which it can be stopped')
  return { params: { id }, workflowId }
}

export const recoveryStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'recovery-waits': async stage => (await underWay(stage)).workflowId,

  'recovery-stopped': async stage => {
    const { params, workflowId } = await underWay(stage)
    await bodyOf(stage.client.people.stopRecovery({ params }))
    await stage.ends(workflowId)
    return workflowId
  },

  'recovery-stopped-by-signal': async stage => {
    const { workflowId } = await underWay(stage)
    await stage.signal(workflowId, 'cancel', { by: 7 })
    await stage.shows(workflowId, 'A signal cancel was ignored')
    await stage.signal(workflowId, 'cancel', { by: 'Ada', reason: 'Nobody has asked for it' })
    await stage.ends(workflowId)
    return workflowId
  },

  'recovery-asked-to-cancel': async stage => {
    const { workflowId } = await underWay(stage)
    await stage.cancel(workflowId)
    await stage.ends(workflowId)
    return workflowId
  },

  'recovery-completed': async stage => {
    const { params, workflowId } = await underWay(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 1 } }))
    await stage.shows(workflowId, 'link to be opened')
    const { url } = await bodyOf(stage.dash.people.link({ params }))
    const body = { token: new URL(String(url)).hash.slice(1) }
    const headers = { 'sec-fetch-site': 'same-origin' }
    await bodyOf(stage.client.console.redeemLink({ body, headers }))
    await stage.ends(workflowId)
    return workflowId
  },

  'recovery-expired': async stage => {
    const { workflowId } = await underWay(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 1 } }))
    await stage.shows(workflowId, 'link to be opened')
    await bodyOf(stage.client.sandbox.advance({ body: { days: 7 } }))
    await stage.ends(workflowId)
    return workflowId
  },
}
