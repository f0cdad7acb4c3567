import { answerOf } from '../derive/call.ts'
import { joinBody, readContent } from './arguments/body.ts'
import { formOf, hasFiles } from './arguments/files.ts'
import { type OperationCall, refuseIncomplete } from './arguments/operation-call.ts'
import type { Input } from './calls/caller.ts'
import { pagesOf } from './calls/pages.ts'
import { type Reply, textOf } from './calls/send.ts'
import { type Context, resultOf } from './context.ts'
import { type ExitCode, exitCodes, type Io, usageError } from './io.ts'
import { safeJson, safeText } from './output/terminal.ts'
import { writeNamedFile } from './output/write-file.ts'
import type { Command } from './table.ts'

export async function runOperation(key: string, typed: OperationCall, context: Context): Promise<ExitCode> {
  const command = context.table.get(key)
  const { options } = typed
  if (options.body === undefined) refuseIncomplete(command, typed)
  if (options.all && !command.isList)
    throw usageError(`${command.noun} ${command.verb} has no pages. Omit --all.`)
  const input = await inputOf(command, typed, context)
  if (command.media) return printFile(await context.open(key, input), context)
  if (options.all) return printAll(key, input, context)
  const result = await context.result(key, input)
  if (typeof options.output === 'string')
    await writeNamedFile([`${safeJson(result)}\n`], options.output, context.io)
  else if (result !== undefined) context.print(result)
  else if (context.io.stdout.isTTY) context.note('Done.')
  return exitCodes.done
}

async function inputOf(command: Command, typed: OperationCall, { io }: Context): Promise<Input> {
  const { params, query, members, options } = typed
  const whole = typeof options.body === 'string' ? options.body : undefined
  if (whole !== undefined && !command.body)
    throw usageError(`${command.noun} ${command.verb} takes no body. Omit it.`)
  const content: Pick<Input, 'raw' | 'body' | 'headers'> =
    command.body?.kind === 'raw'
      ? { raw: await readContent(whole ?? '', io) }
      : await contentOf(await joinBody(whole, members, io), io)
  const key = options['idempotency-key']
  if (key !== undefined && !command.takesKey)
    throw usageError(`${command.noun} ${command.verb} takes no idempotency key.`)
  return {
    params,
    query,
    ...content,
    ...(typeof key === 'string' ? { idempotencyKey: key } : {}),
    headers: {
      ...content.headers,
      ...(typeof options.run === 'string' ? { 'x-run-id': options.run } : {}),
    },
    ...(options.operator === true ? { asOperator: true } : {}),
  }
}

async function contentOf(
  body: Readonly<Record<string, unknown>> | undefined,
  io: Io,
): Promise<Pick<Input, 'raw' | 'body' | 'headers'>> {
  if (body === undefined) return {}
  return hasFiles(body) ? formOf(body, io) : { body }
}

async function printAll(key: string, input: Input, context: Context): Promise<ExitCode> {
  const { options, io } = context
  if (typeof options.output === 'string') {
    await writeNamedFile(onePage(key, input, context), options.output, io)
    return exitCodes.done
  }
  if (!context.asJson) {
    const data: unknown[] = []
    for await (const records of pagesOf(key, input, context)) data.push(...records)
    context.print({ data, hasMore: false, nextCursor: null })
    return exitCodes.done
  }
  for await (const piece of onePage(key, input, context)) io.stdout.write(piece)
  return exitCodes.done
}

async function* onePage(key: string, input: Input, context: Context): AsyncGenerator<string> {
  let separator = '{"data": [\n'
  for await (const records of pagesOf(key, input, context))
    for (const record of records) {
      yield `${separator}${safeJson(record)}`
      separator = ',\n'
    }
  const start = separator === ',\n' ? '\n' : separator
  yield `${start}], "hasMore": false, "nextCursor": null}\n`
}

async function printFile(reply: Reply, context: Context): Promise<ExitCode> {
  if (reply.status >= 400) resultOf(answerOf(reply.status, reply.headers, await textOf(reply.content)))
  const { options, io } = context
  if (typeof options.output === 'string') await writeNamedFile(reply.content, options.output, io)
  else if (!io.stdout.isTTY) for await (const piece of reply.content) io.stdout.write(piece)
  else await showFile(reply, context)
  return exitCodes.done
}

const TEXT = /^(text\/|application\/([\w.-]+\+)?(json|xml)\b)/

/** A terminal gets texts only, with control characters escaped. */
async function showFile({ headers, content }: Reply, { io, fail }: Context): Promise<void> {
  const type = headers.get('content-type') ?? ''
  if (!TEXT.test(type))
    fail(exitCodes.usage, `The response is ${type || 'not text'}. Write it to a file with --output <file>.`)
  const decoder = new TextDecoder()
  for await (const piece of content) io.stdout.write(safeText(decoder.decode(piece, { stream: true })))
}
