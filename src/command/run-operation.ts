import { parseCallAnswer } from '../derive/call.ts'
import { isRecord } from '../values/members.ts'
import { assembleBody, readContent } from './arguments/body.ts'
import { hasFiles, multipartForm } from './arguments/files.ts'
import { type OperationCall, requireArguments } from './arguments/operation-call.ts'
import type { ServiceCallInput } from './calls/caller.ts'
import { readPages } from './calls/pages.ts'
import { readText, type ServiceReply } from './calls/send.ts'
import { type CommandContext, type CustomCommand, resultOrFailure } from './context.ts'
import { type CommandIo, type ExitCode, exitCodes, usageError } from './io.ts'
import { escapedJson, escapeText } from './output/terminal.ts'
import { writeNamedFile } from './output/write-file.ts'
import type { CommandDefinition } from './table.ts'

export async function runOperation(
  key: string,
  typed: OperationCall,
  context: CommandContext,
  own?: Pick<CustomCommand, 'answered'>,
): Promise<ExitCode> {
  const command = context.table.get(key)
  const { options } = typed
  if (options.body === undefined) requireArguments(command, typed)
  if (options.all && !command.isList)
    throw usageError(`${command.noun} ${command.verb} has no pages. Omit --all.`)
  const input = await inputOf(command, typed, context)
  if (command.media || options.csv) return printFile(await context.open(key, input), context)
  if (options.all) return printAll(key, input, context)
  const result = await context.result(key, input)
  if (typeof options.output === 'string')
    await writeNamedFile([`${escapedJson(result)}\n`], options.output, context.io)
  else if (result !== undefined) context.print(result)
  else if (context.io.stdout.isTTY) context.note('Done.')
  await own?.answered?.(result, context)
  if (!isFailedVerification(result)) return exitCodes.done
  context.note('The verification has failed: the output says where.')
  return exitCodes.refused
}

/** The call succeeds, and its answer is that something was changed: a script must notice. */
const isFailedVerification = (result: unknown): boolean => isRecord(result) && result.ok === false

async function inputOf(
  command: CommandDefinition,
  typed: OperationCall,
  { io }: CommandContext,
): Promise<ServiceCallInput> {
  const { params, query, members, options } = typed
  const whole = typeof options.body === 'string' ? options.body : undefined
  if (whole !== undefined && !command.body)
    throw usageError(`${command.noun} ${command.verb} takes no body. Omit it.`)
  const content: Pick<ServiceCallInput, 'raw' | 'body' | 'headers'> =
    command.body?.kind === 'raw'
      ? { raw: await readContent(whole ?? '', io) }
      : await contentOf(await assembleBody(whole, members, io), io)
  const key = options['idempotency-key']
  if (key !== undefined && !command.takesKey)
    throw usageError(`${command.noun} ${command.verb} takes no idempotency key. Omit --idempotency-key.`)
  if (options['no-wait'] && !command.mayGoOn)
    throw usageError(`${command.noun} ${command.verb} always waits for its outcome. Omit --no-wait.`)
  if (options.csv && !command.csv) throw usageError(`${command.noun} ${command.verb} has no CSV. Omit --csv.`)
  return {
    params,
    query,
    ...content,
    ...(typeof key === 'string' ? { idempotencyKey: key } : {}),
    headers: {
      ...content.headers,
      ...(typeof options.run === 'string' ? { 'x-run-id': options.run } : {}),
      ...(options['no-wait'] ? { prefer: 'respond-async' } : {}),
      ...(options.csv ? { accept: 'text/csv' } : {}),
    },
    ...(options.operator === true ? { asOperator: true } : {}),
  }
}

async function contentOf(
  body: Readonly<Record<string, unknown>> | undefined,
  io: CommandIo,
): Promise<Pick<ServiceCallInput, 'raw' | 'body' | 'headers'>> {
  if (body === undefined) return {}
  return hasFiles(body) ? multipartForm(body, io) : { body }
}

async function printAll(key: string, input: ServiceCallInput, context: CommandContext): Promise<ExitCode> {
  const { options, io } = context
  if (typeof options.output === 'string') {
    await writeNamedFile(onePage(key, input, context), options.output, io)
    return exitCodes.done
  }
  if (!context.asJson) {
    const data: unknown[] = []
    for await (const records of readPages(key, input, context)) data.push(...records)
    context.print({ data, hasMore: false, nextCursor: null })
    return exitCodes.done
  }
  for await (const piece of onePage(key, input, context)) io.stdout.write(piece)
  return exitCodes.done
}

async function* onePage(
  key: string,
  input: ServiceCallInput,
  context: CommandContext,
): AsyncGenerator<string> {
  let separator = '{"data": [\n'
  for await (const records of readPages(key, input, context))
    for (const record of records) {
      yield `${separator}${escapedJson(record)}`
      separator = ',\n'
    }
  const start = separator === ',\n' ? '\n' : separator
  yield `${start}], "hasMore": false, "nextCursor": null}\n`
}

async function printFile(reply: ServiceReply, context: CommandContext): Promise<ExitCode> {
  if (reply.status >= 300)
    resultOrFailure(parseCallAnswer(reply.status, reply.headers, await readText(reply.content)))
  const { options, io } = context
  if (typeof options.output === 'string') await writeNamedFile(reply.content, options.output, io)
  else if (!io.stdout.isTTY) for await (const piece of reply.content) io.stdout.write(piece)
  else await showFile(reply, context)
  return exitCodes.done
}

const TEXT = /^(text\/|application\/([\w.-]+\+)?(json|xml)\b)/

/** A terminal gets texts only, with control characters escaped. */
async function showFile({ headers, content }: ServiceReply, { io, fail }: CommandContext): Promise<void> {
  const type = headers.get('content-type') ?? ''
  if (!TEXT.test(type))
    fail(exitCodes.usage, `The response is ${type || 'not text'}. Write it to a file with --output <file>.`)
  const decoder = new TextDecoder()
  for await (const piece of content) io.stdout.write(escapeText(decoder.decode(piece, { stream: true })))
}
