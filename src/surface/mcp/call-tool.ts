import type { Context } from '../../kernel/contract/context.ts'
import { ownTools } from './own-tools.ts'
import { refused, withoutCardNumbers } from './result.ts'
import { runTarget } from './run-target.ts'
import type { ToolCall } from './tool-call.ts'

/** Answers a call; what nobody may see is kept from every answer. */
export const callTool = async (call: ToolCall, context: Context): Promise<object> =>
  withoutCardNumbers(await answerOf(call, context), call.name, context)

async function answerOf(call: ToolCall, context: Context): Promise<object> {
  const { actor, ports } = context
  const own = ownTools(actor).find(({ definition }) => definition.name === call.name)
  if (own) return own.run(call.given, context)
  const target = ports.tools.named(call.name)
  if (target) return runTarget(target, call, context)
  return refused('unknown_tool', 'There is no such tool. tools/list shows those that you may call.')
}
