import { describe, expect, test } from '@jest/globals'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'
import sharp from 'sharp'
import { aDispute, aPaidCard, networkSays } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })

async function bundleOf(key: string, id: string): Promise<Buffer> {
  const answer = await fetch(`${service.url}/disputes/${id}/bundle`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/pdf')
  return Buffer.from(await answer.arrayBuffer())
}

async function aProvenDispute() {
  const paid = await aPaidCard(service, 50)
  const { client, agent, transactionId } = paid
  const { id } = await aDispute(client, transactionId)
  await addText(client, id, agent.id, 'The parcel was promised for 5 November.')
  return { ...paid, id }
}

const addText = (client: TestClient, id: string, agentId: string, text: string): Promise<void> =>
  add(client, id, agentId, { type: 'confirmation', text })

type Piece = Omit<Parameters<TestClient['evidence']['create']>[0]['body'], 'intentId'>

async function add(client: TestClient, id: string, agentId: string, given: Piece): Promise<void> {
  const declared = { agentId, amountEuros: 50, purpose: 'A textbook on tides', merchant: 'Bookshop' }
  const { id: intentId } = await bodyOf(client.intents.create({ body: declared }))
  const piece = await bodyOf(client.evidence.create({ body: { ...given, intentId } }))
  await bodyOf(client.disputes.addEvidence({ params: { id }, body: { evidenceIds: [piece.id] } }))
}

async function textOf(pdf: Buffer): Promise<string> {
  const document = await getDocument({ data: new Uint8Array(pdf), useSystemFonts: false }).promise
  const words: string[] = []
  for (let number = 1; number <= document.numPages; number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    for (const item of items) if ('str' in item) words.push(item.str)
  }
  await document.loadingTask.destroy()
  return words.join(' ')
}

const pagesOf = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0

const screenshot = (): Promise<Buffer> =>
  sharp({ create: { width: 900, height: 600, channels: 3, background: '#3366aa' } })
    .png()
    .toBuffer()

describe('the bundle of a dispute', () => {
  test('shows each re-encoded picture on a page of its own', async () => {
    const { client, agent, key, id } = await aProvenDispute()
    const before = await bundleOf(key, id)
    const file = (await screenshot()).toString('base64')
    await add(client, id, agent.id, { type: 'screenshot', note: 'The order page', file })
    const bundle = await bundleOf(key, id)
    expect(pagesOf(bundle)).toBe(pagesOf(before) + 1)
    expect(bundle.toString('latin1')).toContain('/Subtype /Image')
    expect((await bundleOf(key, id)).equals(bundle)).toBe(true)
  })

  test('has the same bytes for the same facts, and others once there is another one', async () => {
    const { client, key, id } = await aProvenDispute()
    const first = await bundleOf(key, id)
    expect(first.subarray(0, 5).toString()).toBe('%PDF-')
    expect((await bundleOf(key, id)).equals(first)).toBe(true)
    await networkSays(client, id, 'credited')
    expect((await bundleOf(key, id)).equals(first)).toBe(false)
  })

  test('a long text is shown in part, with the number of omitted characters', async () => {
    const { client, agent, key, id } = await aProvenDispute()
    const before = pagesOf(await bundleOf(key, id))
    await addText(client, id, agent.id, 'a\n'.repeat(10_000))
    expect(pagesOf(await bundleOf(key, id))).toBeLessThan(before + 7)
  })

  test('a bundle shows the refunds of the payment, and each amount in its timeline', async () => {
    const { client, key, id, transactionId, authorizationId } = await aProvenDispute()
    const refunded = { authorizationId, amountEuros: 12.34, refundId: 'refund_of_the_shop' }
    await bodyOf(client.sandbox.refundCard({ body: refunded }))
    const { data } = await bodyOf(client.disputes.timeline({ params: { id }, query: { limit: 100 } }))
    const told = data.filter(({ event }) => event === 'transaction.refunded' || event === 'refund.completed')
    expect(told.map(({ event, amountEuros }) => [event, amountEuros]).toSorted()).toEqual([
      ['refund.completed', 12.34],
      ['transaction.refunded', 12.34],
    ])
    const [refund] = (await bodyOf(client.refunds.list({ query: { transactionId } }))).data
    const text = await textOf(await bundleOf(key, id))
    expect(text).toMatch(/Refunds.*€ 12\.34.*completed\s+sent by the/s)
    expect(text).toContain('€ 12.34 (refund_of_the_shop)')
    expect(text.replaceAll(/\s/g, '')).toContain(refund?.id)
    expect(text).toMatch(/transaction\.refunded\s+card network\s+€ 12\.34/)
    expect(text).not.toMatch(/transaction\.refunded\s+card network\s+€ 50\.00/)
  })

  test('has as many pages as the evidence needs', async () => {
    const { client, agent, key, id } = await aProvenDispute()
    const before = pagesOf(await bundleOf(key, id))
    await addText(client, id, agent.id, 'A long letter. '.repeat(1_200))
    expect(pagesOf(await bundleOf(key, id))).toBeGreaterThan(before + 1)
  })
})
