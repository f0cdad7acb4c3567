import type { z } from 'zod'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Content, type Html, html } from '../../../web/html.ts'
import type { Page, PageRequest } from '../page.ts'
import { copyable } from './links.ts'
import { readNames } from './names.ts'
import { status, text } from './text.ts'

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

type RecordOf<O extends AnyOperation> = z.input<O['returns'][1]>

interface RecordSpec<O extends AnyOperation> {
  /** What it is, in the singular: `Transfer`. */
  readonly kind: string
  /** The operation that gives the record, and the line of the command that does the same where that is not `<noun> get`. */
  readonly operation: O
  readonly command?: string
  /** The section to whose list the page leads back, where it is another one than its own. */
  readonly section?: PageRequest['section']
  /** The events at which the page is made again: those that name the record, or one of the ids that `about` gives. */
  readonly events: readonly string[]
  readonly about?: (record: RecordOf<O>) => readonly (string | null)[]
  /** What the record is called, in its head and as the title of the page: its `name`, where nothing is said. */
  readonly name?: (record: RecordOf<O>, request: PageRequest) => Content
  readonly title?: (record: RecordOf<O>) => string
  /** Its `status`, where nothing is said. */
  readonly state?: (record: RecordOf<O>, request: PageRequest) => string | undefined
  readonly body: (record: RecordOf<O>, request: PageRequest) => Promise<Content> | Content
}

/** Who has made a record is called by name on its page. */
const nameItsAgent = async (record: object, request: PageRequest): Promise<void> => {
  if ('agentId' in record && record.agentId !== null) await readNames(request, 'agents')
}

const commandOf = ({ path }: AnyOperation): string => `${path.split('/')[1]} get`

const memberOf = (record: object, member: 'name' | 'status'): string | undefined => {
  const value = (record as Readonly<Record<string, unknown>>)[member]
  return typeof value === 'string' ? value : undefined
}

/** The page of a record: its head, and what its kind shows, made again whenever an event concerns it. */
export const recordPage =
  <O extends AnyOperation>(spec: RecordSpec<O>): Page =>
  async request => {
    const { operation, kind, command = commandOf(operation), events, about, body } = spec
    const { id } = request
    const record = (await request.ask(operation as AnyOperation, { params: { id } })) as RecordOf<O> & object
    const called = memberOf(record, 'name')
    const content = await request.part({
      id: 'record',
      events,
      about: [id, ...(about?.(record) ?? [])].filter(one => one !== null).join(' '),
      async make() {
        await nameItsAgent(record, request)
        const name = spec.name ? spec.name(record, request) : text(called, 140)
        const state = spec.state ? spec.state(record, request) : memberOf(record, 'status')
        return html`${recordHead({ name, kind, operation, command, state }, request)}
${await body(record, request)}`
      },
    })
    const { section = request.section } = spec
    return {
      title: spec.title?.(record) ?? called ?? kind,
      content: html`${backTo(request, section.name, section.title)}
${content}`,
    }
  }
