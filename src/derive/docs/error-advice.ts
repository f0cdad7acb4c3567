import { readFileSync } from 'node:fs'
import { parseMarkdownBlocks } from './markdown.ts'

export interface ErrorAdvice {
  readonly cause: string
  readonly remedy: string
  /** The operation whose samples help with a code of any operation. */
  readonly operation: string
}

const TABLES = parseMarkdownBlocks(readFileSync(new URL('./error-advice.md', import.meta.url), 'utf8'))

/** What the messages of a code leave open. */
export const errorAdvice: ReadonlyMap<string, ErrorAdvice> = new Map(
  TABLES.flatMap(block => (block.type === 'table' ? block.rows : [])).flatMap(row => {
    const [codes = '', cause = '', remedy = '', operation = ''] = row.map(({ text }) => text)
    const advice = { cause, remedy, operation: operation.replaceAll('`', '') }
    return [...codes.matchAll(/\w+/g)].map(([code]): [string, ErrorAdvice] => [code, advice])
  }),
)
