import type { ContextOf } from '../../kernel/operation.ts'
import { excerpt } from '../../kernel/schemas.ts'
import { UnreadableXml } from '../../kernel/xml.ts'
import { type BankFile, readCamt } from './camt.ts'
import type { incomingApi } from './incoming-api.ts'
import { houseOf } from './incoming-credit.ts'
import { receive } from './receive.ts'

type Reading = ContextOf<typeof incomingApi.readFile>

/** In the encoding that the file names; every one that is not UTF-8 is rare. */
function textOf(bytes: Buffer): string {
  const [, label = 'utf-8'] =
    /^<\?xml[^>]*\bencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(bytes.toString('latin1', 0, 200)) ?? []
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes)
  } catch {
    throw new UnreadableXml(`It is not written in ${label}.`)
  }
}

/** All that a bank's file brings, in one transaction. What is for nobody lies on the ledger of the house. */
export async function readFile(content: string, mode: 'test' | 'live', context: Reading) {
  const { now, actFor, emit, refuse } = context
  let file: BankFile
  try {
    file = readCamt(textOf(Buffer.from(content, 'base64')), now.toISOString().slice(0, 10))
  } catch (error) {
    if (error instanceof UnreadableXml) return refuse('file_unreadable', `content: ${error.message}`)
    throw error
  }
  const house = houseOf(mode)
  const credits = await receive(file.arrivals, { mode, otherwise: house }, context)
  const matched = credits.filter(({ status }) => status === 'matched').length
  const counts = {
    messageId: excerpt(file.messageId),
    entries: file.entries,
    matched,
    unmatched: credits.length - matched,
    known: file.arrivals.length - credits.length,
  }
  actFor(house)
  emit('incoming.file_read', { ...counts, skipped: file.skipped.length })
  return { ...counts, skipped: [...file.skipped] }
}
