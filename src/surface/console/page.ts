import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { Ask } from '../../kernel/contract/context.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { JsonOf } from '../../values/json-names.ts'
import type { Html } from '../../web/html.ts'

/** A page of the console: it asks operations of the API and arranges what they answer. */
export type Page = (request: PageRequest) => Promise<Shown>

export interface Shown {
  readonly title: string
  readonly content: Html
  /** The page below the root that a browser goes on to at once. */
  readonly onward?: string
  /** What an operation has refused, where the page tells it itself. */
  readonly refusal?: Refusal
}

/** What an operation answers, as it stands in JSON. */
export type AnswerOf<O extends Pick<AnyOperation, 'returns'>> = JsonOf<O['returns'][1]>

/** A record of the list that an operation answers. */
export type ItemOf<O extends Pick<AnyOperation, 'returns'>> =
  AnswerOf<O> extends { readonly data: readonly (infer T)[] } ? T : never

/** A live part of a page: which events concern it, and its content. */
export interface LivePart {
  readonly id: string
  readonly events: readonly string[]
  /** Only events whose data name this id concern it. */
  readonly about?: string
  readonly make: () => Promise<Html> | Html
}

export interface PageRequest {
  readonly ask: Ask
  readonly actor: Actor
  readonly tenant: Tenant
  /** The tenant's time. */
  readonly now: Date
  readonly ports: Pick<Ports, 'publicUrl' | 'pageUrl' | 'runUrl' | 'tools'>
  /** The id in the address of a record's page; empty on other pages. */
  readonly id: string
  /** What stands in the address behind the question mark. A member that the page does not read is refused. */
  readonly query: Readonly<Record<string, string>>
  /** The section of the page, and what it is called; the first page has none. */
  readonly section: { readonly name: string; readonly title: string }
  /** The address of the page, relative to the root of the service. */
  readonly path: string
  /** The address, from this page, of what lies at `path` below the root: the service may be served below a path. */
  to(path: string): string
  /** Whether the person may call the operation: hiding what would be refused is a courtesy, the right is the API's. */
  may(operation: AnyOperation): boolean
  /** A part that is made again when an event concerns it. Where only some parts are asked for, the others are not made. */
  part(part: LivePart): Promise<Html>
}

/** A section of the console: its place in the navigation, its list, and the page of one of its records. */
export interface Section {
  readonly title: string
  /** Whoever may not call it does not see the section. */
  readonly needs?: AnyOperation
  readonly list: Page
  readonly record?: Page
  /** The list operation that its CSV is made of. */
  readonly table?: AnyOperation
}
