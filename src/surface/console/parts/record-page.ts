import type { z } from 'zod'
import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { type Content, html } from '../../../web/html.ts'
import type { Page, PageRequest } from '../page.ts'
import { readNames } from './names.ts'
import { backTo, recordHead } from './record.ts'

type RecordOf<O extends AnyOperation> = z.input<O['returns'][1]>

interface RecordSpec<O extends AnyOperation> {
  /** The section to whose list the page leads back, and what that is called. */
  readonly section: string
  readonly list: string
  /** What it is, in the singular: `Transfer`. */
  readonly kind: string
  /** The operation that gives the record, and the line of the command that does the same, without the id. */
  readonly operation: O
  readonly command: string
  /** The events at which the page is made again: those that name the record, or one of the ids that `about` gives. */
  readonly events: readonly string[]
  readonly about?: (record: RecordOf<O>) => readonly (string | null)[]
  /** What the record is called: in its head, and as the title of the page. */
  readonly name: (record: RecordOf<O>, request: PageRequest) => Content
  readonly title: (record: RecordOf<O>) => string
  readonly state?: (record: RecordOf<O>, request: PageRequest) => string
  readonly body: (record: RecordOf<O>, request: PageRequest) => Promise<Content> | Content
}

/** Who has made a record is called by name on its page. */
const nameItsAgent = async (record: object, request: PageRequest): Promise<void> => {
  if ('agentId' in record && record.agentId !== null) await readNames(request, 'agents')
}

/** The page of a record: its head, and what its kind shows, made again whenever an event concerns it. */
export const recordPage =
  <O extends AnyOperation>(spec: RecordSpec<O>): Page =>
  async request => {
    const { operation, section, list, kind, command, events, about, name, title, state, body } = spec
    const { id } = request
    const record = (await request.ask(operation as AnyOperation, { params: { id } })) as RecordOf<O>
    const content = await request.part({
      id: 'record',
      events,
      about: [id, ...(about?.(record) ?? [])].filter(one => one !== null).join(' '),
      async make() {
        await nameItsAgent(record, request)
        return html`${recordHead({ name: name(record, request), kind, operation, command, ...(state && { state: state(record, request) }) }, request)}
${await body(record, request)}`
      },
    })
    return {
      title: title(record),
      content: html`${backTo(request, section, list)}
${content}`,
    }
  }
