import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { CallOperation } from '../../kernel/contract/context.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { JsonOf } from '../../values/json-names.ts'
import type { Html } from '../../web/html.ts'

export type Page = (request: PageRequest) => Promise<Shown>

export interface Shown {
  readonly title: string
  readonly content: Html
  readonly onward?: string
  readonly refusal?: Refusal
}

export type AnswerOf<O extends Pick<AnyOperation, 'returns'>> = JsonOf<O['returns'][1]>

export type ItemOf<O extends Pick<AnyOperation, 'returns'>> =
  AnswerOf<O> extends { readonly data: readonly (infer T)[] } ? T : never

export interface LivePart {
  readonly id: string
  readonly events: readonly string[]
  readonly about?: string
  readonly make: () => Promise<Html> | Html
}

export interface PageRequest {
  readonly ask: CallOperation
  readonly actor: Actor
  readonly tenant: Tenant
  readonly now: Date
  readonly ports: Pick<Ports, 'publicUrl' | 'pageUrl' | 'runUrl' | 'tools'>
  /** The id of a record's page; empty on other pages. */
  readonly id: string
  /** A parameter that the page does not read is refused. */
  readonly query: Readonly<Record<string, string>>
  readonly section: { readonly name: string; readonly title: string }
  readonly path: string
  /** Makes the address of `path` relative to this page, since the service may be served below a path. */
  to(path: string): string
  /** Whether the person may call the operation. Pages hide what the API would refuse; only the API enforces it. */
  may(operation: AnyOperation): boolean
  part(part: LivePart): Promise<Html>
}

export interface Section {
  readonly title: string
  readonly needs?: AnyOperation
  readonly list: Page
  readonly record?: Page
  readonly table?: AnyOperation
}
