import { aFundedAgent, anIntent, aWallet, bodyOf, type TestClient } from '../factories.ts'
import { type Enrolled, signed } from '../identity/people.ts'

interface Stage {
  readonly client: TestClient
  readonly signer: () => Promise<Enrolled>
  signal(workflowId: string, name: string, payload: unknown): Promise<void>
  cancel(workflowId: string): Promise<void>
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

/** A mandate for thirty days and fifty euros, whose run is waiting. */
async function aMandate({ client, signer, shows }: Stage) {
  const agent = await aFundedAgent(client)
  const now = Date.parse((await bodyOf(client.sandbox.clock())).now)
  const members = {
    agentId: agent.id,
    constraints: { totalEuros: 50 },
    expiresAt: new Date(now + 30 * 86_400_000).toISOString(),
  }
  const challenge = await bodyOf(client.mandates.options({ body: members }))
  const webauthnAssertion = signed(challenge, (await signer()).device)
  const { id, workflowId } = await bodyOf(client.mandates.create({ body: { ...members, webauthnAssertion } }))
  await shows(workflowId, 'for its end')
  return { agent, params: { id }, workflowId }
}

export const mandateStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'mandate-waits': async stage => (await aMandate(stage)).workflowId,

  'mandate-suspended-and-resumed': async stage => {
    const { params, workflowId } = await aMandate(stage)
    await bodyOf(stage.client.mandates.suspend({ params, body: {} }))
    await stage.shows(workflowId, 'for it to be resumed')
    await bodyOf(stage.client.mandates.resume({ params, body: {} }))
    await stage.shows(workflowId, 'for its end')
    await bodyOf(stage.client.mandates.revoke({ params, body: {} }))
    await stage.ends(workflowId)
    return workflowId
  },

  'mandate-signalled': async stage => {
    const { workflowId } = await aMandate(stage)
    await stage.signal(workflowId, 'suspend', { by: 7 })
    await stage.shows(workflowId, 'A signal suspend was ignored')
    await stage.signal(workflowId, 'suspend', { by: 'Ada', reason: 'Unusual' })
    await stage.shows(workflowId, 'for it to be resumed')
    await stage.cancel(workflowId)
    await stage.shows(workflowId, 'Request Cancellation changed nothing')
    await stage.signal(workflowId, 'resume', { by: 'Ada' })
    await stage.shows(workflowId, 'for its end')
    await stage.signal(workflowId, 'revoke', { by: 'Ada', reason: 'No longer needed' })
    await stage.ends(workflowId)
    return workflowId
  },

  'mandate-expired': async stage => {
    const { workflowId } = await aMandate(stage)
    await bodyOf(stage.client.sandbox.advance({ body: { days: 30 } }))
    await stage.ends(workflowId)
    return workflowId
  },

  'mandate-exhausted': async stage => {
    const { client } = stage
    const { agent, workflowId } = await aMandate(stage)
    const shop = await aWallet(client, 0, { name: 'Bookshop' })
    const { id: intentId } = await anIntent(client, agent.id, { amountEuros: 50, walletId: shop.id })
    const body = { fromWalletId: agent.walletId, toWalletId: shop.id, amountEuros: 50, intentId }
    await bodyOf(client.transfers.create({ body }))
    await stage.ends(workflowId)
    return workflowId
  },
}
