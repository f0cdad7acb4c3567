import type { Context } from '../../kernel/contract/context.ts'
import type { ToolTarget } from '../../kernel/contract/tool.ts'
import { afterDeclaring } from './intents.ts'
import { resultOf } from './result.ts'
import { mayWrite, refusedWrite } from './rights.ts'
import { runOperation } from './run-operation.ts'
import type { ToolCall } from './tool-call.ts'

/** Runs an operation for a tool of its own name or for `call_operation`: the way is the same. */
export async function runTarget(target: ToolTarget, call: ToolCall, context: Context): Promise<object> {
  if (target.isWriting && !mayWrite(context.actor)) return refusedWrite(target, context.actor)
  const answer = await runOperation(target, call.given, context)
  const isDeclared = target.operation === 'intents.create' && !answer.refusal
  return isDeclared ? afterDeclaring(answer, call, context) : resultOf(answer)
}
