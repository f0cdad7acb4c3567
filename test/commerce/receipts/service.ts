import PDFDocument from 'pdfkit'
import sharp from 'sharp'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { advance, DAY } from '../../support/sandbox.ts'

export const service = await startTestService()

const DAY_MS = DAY * 1_000

type PdfOptions = NonNullable<ConstructorParameters<typeof PDFDocument>[0]>

export function aPdf(
  lines: readonly string[],
  options: PdfOptions = {},
  more: (document: PDFKit.PDFDocument) => void = () => undefined,
): Promise<Buffer> {
  const document = new PDFDocument({ size: 'A6', ...options })
  const pieces: Buffer[] = []
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  document.on('data', piece => pieces.push(piece)).on('end', () => resolve(Buffer.concat(pieces)))
  for (const line of lines) document.text(line)
  more(document)
  document.end()
  return promise
}

/** The clocks of payers are set to noon of tomorrow, so that no midnight passes during a test. */
const NOON = new Date(Math.ceil(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2)

/** The date this many days after the payer’s first payment. */
export const dated = (days: number): string =>
  new Date(NOON.getTime() + days * DAY_MS).toISOString().slice(0, 10)

export const aBill = (total: string, { merchant = 'Bookshop', date = dated(0) } = {}) =>
  aPdf([
    merchant,
    'Torstraße 1, Berlin',
    `Date: ${date}`,
    'A paper on caching',
    `Total: EUR ${total}`,
    'DE123456789',
  ])

export const aPhoto = (width = 800, height = 600) =>
  sharp({ create: { width, height, channels: 3, background: '#d04020' } })

export async function aPayer() {
  const owner = await service.owner()
  await advance(owner.client, { seconds: Math.round((NOON.getTime() - Date.now()) / 1_000) })
  const agent = await aSpender(owner.client)
  const agentClient = await anAgentClient(service, owner.client, agent.id)
  return { ...owner, agent, agentClient, ...(await aPayment(owner.client, agent.id)) }
}

export async function aPayment(client: TestClient, agentId: string, amountEuros = 25, name = 'Bookshop') {
  const { id: walletId } = await aWallet(client, 0, { name })
  const { id: intentId } = await anIntent(client, agentId, { walletId, amountEuros })
  const { transactionId } = await bodyOf(client.checkout.execute({ body: { intentId } }))
  return { transactionId, intentId }
}

export const send = (client: TestClient, file: Buffer, members: { transactionId?: string } = {}) =>
  client.receipts.create({ body: { file: file.toString('base64'), ...members } })

export const sent = (...input: Parameters<typeof send>) => bodyOf(send(...input))

export const save = (key: string, path: string) =>
  fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${key}` } })

export async function thumbnail(key: string, id: string, size: 320 | 1200 = 320) {
  const answer = await save(key, `/receipts/${id}/thumbnail?size=${size}`)
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { answer, bytes, seen: await sharp(bytes).metadata() }
}
