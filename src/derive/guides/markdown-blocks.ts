/** A part of a Markdown file, as far as the files in docs/ go. */
export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'table'; readonly rows: readonly string[] }
  | {
      readonly kind: 'list'
      readonly isOrdered: boolean
      readonly start: number
      readonly items: readonly string[]
    }
  | { readonly kind: 'paragraph'; readonly text: string }

const FENCE = /^```(\w*)/
/** How a line begins that is typed into a terminal. */
const COMMAND =
  /^([A-Z_]+=|(agentpay|cat|cp|curl|docker|export|git|node|npm|npx|openssl|postgres-config|psql|temporal)\b)/
const ITEM = /^(?:-|(\d+)\.) /

/** The parts of a file in their order. Comments are left out. */
export function blocksOf(markdown: string): Block[] {
  const lines = markdown.replace(/<!--[\s\S]*?-->/g, '').split('\n')
  const blocks: Block[] = []
  for (let at = 0; at < lines.length; ) {
    const taken = blockAt(lines, at)
    if (taken.block) blocks.push(taken.block)
    at = taken.next
  }
  return blocks
}

interface Taken {
  readonly block?: Block
  readonly next: number
}

function blockAt(lines: readonly string[], at: number): Taken {
  const line = lines[at] ?? ''
  if (line.trim() === '') return { next: at + 1 }
  const heading = /^(#{1,6}) (.*)/.exec(line)
  if (heading) {
    const [, marks = '', text = ''] = heading
    return { block: { kind: 'heading', level: marks.length, text }, next: at + 1 }
  }
  if (FENCE.test(line)) return fenceAt(lines, at)
  if (line.startsWith('    ')) return indentedAt(lines, at)
  if (line.startsWith('|')) return tableAt(lines, at)
  if (ITEM.test(line)) return listAt(lines, at)
  return paragraphAt(lines, at)
}

function fenceAt(lines: readonly string[], at: number): Taken {
  const end = lines.findIndex((line, index) => index > at && line.startsWith('```'))
  const next = end < 0 ? lines.length : end
  const language = FENCE.exec(lines[at] ?? '')?.[1] ?? ''
  return { block: { kind: 'code', language, text: lines.slice(at + 1, next).join('\n') }, next: next + 1 }
}

/** The lines from here on that go on with what has begun. */
function endOf(lines: readonly string[], at: number, goesOn: (line: string) => boolean): number {
  let next = at + 1
  while (next < lines.length && goesOn(lines[next] ?? '')) next++
  return next
}

function indentedAt(lines: readonly string[], at: number): Taken {
  const next = endOf(lines, at, line => line.startsWith('    ') || line.trim() === '')
  const text = lines.slice(at, next).map(line => line.slice(4))
  const language = COMMAND.test(text[0] ?? '') ? 'sh' : ''
  return { block: { kind: 'code', language, text: text.join('\n').trimEnd() }, next }
}

function tableAt(lines: readonly string[], at: number): Taken {
  const next = endOf(lines, at, line => line.startsWith('|'))
  return { block: { kind: 'table', rows: lines.slice(at, next) }, next }
}

function listAt(lines: readonly string[], at: number): Taken {
  const next = endOf(lines, at, line => ITEM.test(line) || /^ {2,}\S/.test(line))
  const items: string[] = []
  for (const line of lines.slice(at, next))
    if (ITEM.test(line)) items.push(line.replace(ITEM, ''))
    else items.push(`${items.pop()}\n${line.trim()}`)
  const number = ITEM.exec(lines[at] ?? '')?.[1]
  return { block: { kind: 'list', isOrdered: number !== undefined, start: Number(number ?? 1), items }, next }
}

function paragraphAt(lines: readonly string[], at: number): Taken {
  const begins = (line: string): boolean =>
    line.trim() === '' || FENCE.test(line) || /^(#{1,6} |\|)/.test(line) || ITEM.test(line)
  const next = endOf(lines, at, line => !begins(line))
  return { block: { kind: 'paragraph', text: lines.slice(at, next).join('\n') }, next }
}

/** The cells of a row; a bar in `code` or behind a backslash ends none. */
export const cellsOf = (row: string): string[] =>
  (row.slice(1).match(/(?:`[^`]*`|\\.|[^|])*\|/g) ?? []).map(cell => cell.slice(0, -1).trim())

/** The anchor of a heading, as Git hosts make it. */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}\s_-]/gu, '')
    .replace(/\s/g, '-')
