import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { CallOperation } from '../../kernel/contract/context.ts'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { JsonOf } from '../../values/json-names.ts'
import type { Html } from '../../web/html.ts'

export type ConsolePage = (request: PageRequest) => Promise<RenderedPage>

export interface RenderedPage {
  readonly title: string
  readonly content: Html
  readonly onward?: string
  readonly refusal?: Refusal
}

export type OperationAnswer<O extends Pick<AnyOperation, 'returns'>> = JsonOf<O['returns'][1]>

export type ListItemOf<O extends Pick<AnyOperation, 'returns'>> =
  OperationAnswer<O> extends { readonly data: readonly (infer T)[] } ? T : never

export interface LivePagePart {
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
  readonly service: Pick<RunningService, 'publicUrl' | 'pageUrl' | 'runUrl' | 'tools'>
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
  part(part: LivePagePart): Promise<Html>
}

export interface ConsoleSection {
  readonly title: string
  readonly needs?: AnyOperation
  /** Without a mode, the section is in both. */
  readonly mode?: Tenant['mode']
  readonly list: ConsolePage
  readonly record?: ConsolePage
  readonly table?: AnyOperation
}
