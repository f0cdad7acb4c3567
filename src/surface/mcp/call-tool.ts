import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Context } from '../../kernel/contract/context.ts'
import { problemOf } from '../../kernel/database/retry.ts'
import { maskCardNumbers } from '../../values/mask-card-numbers.ts'
import { findMcpOnlyTool, runMcpOnlyTool } from './own-tools.ts'
import { runToolTarget } from './run-operation.ts'
import { taskInPlaceOf } from './tasks.ts'
import { maskCardNumbersInResult, ourFault, type ToolCall, toolProblem, toolRefusal } from './tool-call.ts'

export const callTool = async (call: ToolCall, context: Context): Promise<object> =>
  maskCardNumbersInResult(await traced(call, context), call.name, context)

/** A client may name its span in the message, as one connection may carry calls of many traces. */
function traced(call: ToolCall, context: Context): Promise<object> {
  const { traceparent: cause } = call
  const { tracing } = context.systems
  if (!tracing || typeof cause !== 'string') return answered(call, context)
  return tracing.span({ name: 'tools/call', kind: 'server', cause }, () => answered(call, context))
}

/**
 * A defect of the service goes only to the log, since its message may come from the database. Protocol errors
 * are answered as such.
 */
async function answered(call: ToolCall, context: Context): Promise<object> {
  try {
    return await taskInPlaceOf(await answerOf(call, context), call, context)
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const { service, requestId } = context
    const problem = problemOf(error, failure => service.tools.reportFailure(failure, requestId))
    return problem.code === 'internal'
      ? toolRefusal('internal', ourFault(requestId))
      : toolProblem(problem, service.tools.named(call.name))
  }
}

async function answerOf(call: ToolCall, context: Context): Promise<object> {
  const own = findMcpOnlyTool(call.name)
  if (own) return runMcpOnlyTool(own, call.given, context)
  const target = context.service.tools.named(call.name)
  if (target) return runToolTarget(target, call, context)
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(call.name))
}

/** An unknown tool is a protocol error. A refusal of a tool is a result, which the model reads. */
export const isKnownTool = (name: string, { service }: Context): boolean =>
  findMcpOnlyTool(name) !== undefined || service.tools.named(name) !== undefined

const LONGEST_NAME = 100

function unknownTool(name: string): string {
  const shown = maskCardNumbers(name.slice(0, LONGEST_NAME), { isCut: name.length > LONGEST_NAME })
  return `Unknown tool: ${shown}. tools/list shows the tools that you may call.`
}
