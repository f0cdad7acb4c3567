import type { Actor } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { tokenScopeSets } from '../../kernel/contract/scopes.ts'

/**
 * An assistant with what a person can grant it. It is shown these tools, since one that it may not use yet leads its
 * client back to the page of consent. Other credentials do not grow.
 */
export const grantableActor = (actor: Actor): Actor =>
  actor.onlyAt === undefined ? actor : { ...actor, scopes: new Set(tokenScopeSets.payer) }

interface ToolMessage {
  readonly method?: unknown
  readonly params?: { readonly name?: unknown } | null
}

/** Whether the message calls a tool that the assistant may use only after a person has granted more. */
export function needsMoreScope(message: unknown, { actor, service: { tools } }: Context): boolean {
  if (actor.onlyAt === undefined || typeof message !== 'object' || message === null) return false
  const { method, params } = message as ToolMessage
  const name = params?.name
  const target = method === 'tools/call' && typeof name === 'string' ? tools.named(name) : undefined
  if (!target || tools.mayCall(actor, target.operation)) return false
  return tools.mayCall(grantableActor(actor), target.operation)
}
