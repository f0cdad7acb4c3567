import type { Make } from './world-passkeys.ts'

export async function aPaidTransaction(make: Make): Promise<{ transactionId: string }> {
  const { id: agentId, walletId } = await make('POST', '/agents', { name: 'Shopper' })
  await make('POST', `/wallets/${walletId}/fund`, { amountEuros: 1_000 })
  const { id: cardId } = await make('POST', '/cards', { agentId, usage: 'multi', displayName: 'Books' })
  await make('POST', '/simulate/card/clear', { cardId, merchant: 'BOOKSHOP BERLIN', amountEuros: 25 })
  const { data } = await make('GET', `/transactions?cardId=${cardId}`)
  return { transactionId: data[0].id }
}

const told = { reason: 'not_received', description: 'It never came.' }

export async function aDisputeToDecide(make: Make): Promise<{ disputeId: string }> {
  const { id } = await make('POST', '/disputes', { ...(await aPaidTransaction(make)), ...told })
  return { disputeId: id }
}

export async function evidenceForDispute(make: Make, path: string): Promise<{ evidenceIds: string[] }> {
  const { agentId } = await make('GET', path.replace(/\/evidence$/, ''))
  const intent = { agentId, amountEuros: 25, purpose: 'A book', merchant: 'shop.example.com' }
  const { id: intentId } = await make('POST', '/intents', intent)
  const { id } = await make('POST', '/evidence', { intentId, type: 'other', text: 'No parcel has come.' })
  return { evidenceIds: [id] }
}
