import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { copyable } from './links.ts'
import { status } from './text.ts'

interface RecordHead {
  /** What the record is called. */
  readonly name: Content
  /** Its kind, in the singular: `Agent`. */
  readonly kind: string
  readonly state?: string | undefined
  /** The operation that gives it, and the line of the command that does the same. */
  readonly operation: AnyOperation
  readonly command: string
}

/** The head of a record's page: its name and state, its id to copy, its JSON, and the command that shows the same. */
export function recordHead(head: RecordHead, { id, to }: PageRequest): Html {
  const { name, kind, state, operation, command } = head
  const json = to(operation.path.replace(/\{\w+\}/, encodeURIComponent(id)).slice(1))
  return html`<p class="kind">${kind}</p>
<h1>${name} ${state !== undefined && status(state)}</h1>
<p class="record">${copyable(id)} <a href="${json}">JSON</a> ${copyable(`agentpay ${command} ${id}`)}</p>`
}

/** A way back to the list that a record belongs to. */
export const backTo = ({ to }: PageRequest, section: string, title: string): Html =>
  html`<p class="back"><a href="${to(`console/${section}`)}">${title}</a></p>`
