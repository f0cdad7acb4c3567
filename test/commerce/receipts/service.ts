import PDFDocument from 'pdfkit'
import sharp from 'sharp'
import { anAgentClient, aSpender } from '../../support/cards/reveal.ts'
import { anIntent, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

export const service = await startTestService()

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

export const today = (): string => new Date().toISOString().slice(0, 10)

export const aBill = (total: string, { merchant = 'Bookshop', date = today() } = {}) =>
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
