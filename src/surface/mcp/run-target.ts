import type { Context } from '../../kernel/contract/context.ts'
import type { ToolTarget } from '../../kernel/contract/tool.ts'
import { afterAsking, afterDeclaring } from './intents.ts'
import { proposeByTool } from './propose.ts'
import { resultOf } from './result.ts'
import { mayWrite } from './rights.ts'
import { runOperation } from './run-operation.ts'
import type { ToolCall } from './tool-call.ts'

/** Runs an operation for a tool of its own name or for `call_operation`: the way is the same. */
export async function runTarget(target: ToolTarget, call: ToolCall, context: Context): Promise<object> {
  if (target.isWriting && !mayWrite(context.actor)) {
    const { idempotencyKey: _, ...given } = call.given
    return proposeByTool({ operation: target.operation, given, reason: null }, context)
  }
  const declares = target.operation === 'intents.create'
  if (declares && call.responses && isIntentId(call.state)) return afterAsking(call.state, context)
  const answer = await runOperation(target, call.given, context)
  const isDeclared = declares && !answer.refusal
  return isDeclared ? afterDeclaring(answer, call, context) : resultOf(answer)
}

const isIntentId = (state: unknown): state is string =>
  typeof state === 'string' && /^intent_[0-9a-z]{26}$/.test(state)
