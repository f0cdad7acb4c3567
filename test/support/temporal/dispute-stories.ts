import { aCard } from '../cards/cards.ts'
import { bodyOf, type TestClient } from '../factories.ts'

interface Stage {
  readonly client: TestClient
  shows(workflowId: string, text: string): Promise<void>
  ends(workflowId: string): Promise<void>
}

async function disputed({ client }: Stage, amountEuros: number, reason: 'fraud' | 'not_received') {
  const { id: cardId } = await aCard(client)
  await bodyOf(client.sandbox.clearCard({ body: { cardId, merchant: 'BOOKSHOP BERLIN', amountEuros } }))
  const { data } = await bodyOf(client.transactions.list({ query: { cardId } }))
  const transactionId = String(data[0]?.id)
  const body = { transactionId, reason, description: 'It never came.' }
  const { id, workflowId } = await bodyOf(client.disputes.create({ body }))
  return { params: { id }, workflowId }
}

const later = ({ client }: Stage, days: number) => bodyOf(client.sandbox.advance({ body: { days } }))

export const disputeStories: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  'dispute-submitted-and-won': async stage => {
    const { params, workflowId } = await disputed(stage, 92.01, 'not_received')
    await stage.shows(workflowId, 'for evidence')
    await bodyOf(stage.client.disputes.submit({ params }))
    await stage.shows(workflowId, 'for the card network to decide')
    await later(stage, 2)
    await stage.ends(workflowId)
    return workflowId
  },

  'dispute-lapsed': async stage => {
    const { workflowId } = await disputed(stage, 25, 'not_received')
    await stage.shows(workflowId, 'for evidence')
    await later(stage, 8)
    await stage.ends(workflowId)
    return workflowId
  },

  'dispute-deadline-and-lost': async stage => {
    const { workflowId } = await disputed(stage, 92.02, 'fraud')
    await stage.shows(workflowId, 'for evidence')
    await later(stage, 9)
    await stage.ends(workflowId)
    return workflowId
  },

  'dispute-withdrawn': async stage => {
    const { params, workflowId } = await disputed(stage, 30, 'fraud')
    await stage.shows(workflowId, 'for evidence')
    await bodyOf(stage.client.disputes.withdraw({ params }))
    await stage.ends(workflowId)
    return workflowId
  },

  'dispute-waits': async stage => {
    const { params, workflowId } = await disputed(stage, 31, 'not_received')
    await bodyOf(stage.client.disputes.submit({ params }))
    await stage.shows(workflowId, 'for the card network to decide')
    return workflowId
  },
}
