import type { DocsBook, OperationEntry } from './book.ts'
import type { MarkdownAddresses } from './markdown.ts'
import type { DocsPart } from './parts.ts'

export interface PagePlace {
  readonly part: DocsPart
  readonly section: string
}

/** Written once, as Markdown: programs read it as it is, and people as the page that is rendered from it. */
export interface DocsPage extends PagePlace {
  readonly title: string
  readonly about: string
  readonly markdown: string
  /** What its links and pictures mean, if they are not addresses already. */
  readonly addresses?: MarkdownAddresses
  /** Its samples stand beside its text on a wide screen. */
  readonly hasColumns?: boolean
}

export interface DocsFile {
  readonly type: string
  readonly content: string | Buffer
  readonly isImmutable: boolean
}

export const paragraphs = (...parts: readonly (string | false | undefined)[]): string =>
  `${parts.filter(Boolean).join('\n\n')}\n`

export const bulletList = (lines: readonly string[]): string => lines.map(line => `- ${line}`).join('\n')

export const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``

export const oneLine = (text: string): string => text.replace(/\s*\n\s*/g, ' ').trim()

export const operationList = (book: DocsBook, entries: readonly OperationEntry[]): string =>
  bulletList(
    entries.map(
      ({ key, method, path, operation }) =>
        `[${operation.summary}](${book.href(key)}): \`${method} ${path}\``,
    ),
  )
