import { MEMBER } from '../arguments/members.ts'
import { commonOptions, type Options, operationOptions } from '../arguments/options.ts'
import type { Style } from '../output/style.ts'
import type { Command, Member } from '../table.ts'
import { exampleOf } from './example.ts'
import { listed, optionRows, plainText, section, wrap } from './layout.ts'

/** The help for an operation's command: its ids, members, refusals, and an example that can be pasted. */
export function operationHelp(command: Command, style: Style): string {
  const { noun, verb, summary, description, params, query, body, refusals } = command
  const ids = params.map(({ name }) => ` <${name}>`).join('')
  return [
    `${style.bold(`agentpay ${noun} ${verb}`)}${ids}${usageOf(command)}\n`,
    `\n${wrap(plainText(`${summary}.`))}\n`,
    description ? `\n${wrap(plainText(description))}\n` : '',
    `\n${wrap(accessOf(command))}\n`,
    section(
      'Ids',
      listed(
        params.map(param => [`<${param.name}>`, param.description]),
        style,
      ),
      style,
    ),
    section('Members', listed(memberRows([...query, ...(body?.members ?? [])]), style), style),
    section('Options', listed(optionRows(optionsOf(command)), style), style),
    section('Example', `  ${exampleOf(command)}\n`, style),
    section(
      'Refusals',
      listed(
        refusals.map(([code, status, message]) => [`${status} ${code}`, message]),
        style,
      ),
      style,
    ),
  ].join('')
}

const usageOf = ({ query, body }: Command): string => (query.length > 0 || body ? ' [--member value]' : '')

const callerWords: Readonly<Record<string, string>> = {
  key: 'a key',
  agent: 'the token of an agent',
  merchant: 'a merchant',
  dash: 'the operator',
  console: 'people in the console',
  signed: 'the system that signs it',
  public: 'anybody',
}

function accessOf({ callers, scope, takesKey, isRepeatable }: Command): string {
  const who = callers.map(caller => callerWords[caller] ?? caller).join(', ')
  const right = scope ? `, with the scope ${scope}` : ''
  const again = takesKey || isRepeatable ? ' It is sent again by itself when the connection breaks.' : ''
  return `Open to ${who}${right}.${again}`
}

/** The options that mean something here. */
function optionsOf({ isList, body, callers, takesKey }: Command): Options {
  const { all, body: whole, operator, output, run, 'idempotency-key': key } = operationOptions
  return {
    ...(isList ? { all } : {}),
    ...(body ? { body: whole } : {}),
    ...(callers.includes('dash') && callers.includes('key') ? { operator } : {}),
    output,
    ...(callers.includes('key') || callers.includes('agent') ? { run } : {}),
    ...(takesKey ? { 'idempotency-key': key } : {}),
    ...commonOptions,
  }
}

function memberRows(members: readonly Member[], before = ''): [string, string][] {
  return members.flatMap((member): [string, string][] => {
    const { name, words, required, description, limits = [], members: inner, values } = member
    const option = before + name
    const shown = before === '' && Object.hasOwn(operationOptions, name) ? MEMBER + name : option
    const facts = [`${words}${required ? ', required' : ''}`, ...limits].join(' · ')
    const text = [description, `(${facts})`].filter(Boolean).join(' ')
    const free: [string, string][] = values && !inner ? [[`--${shown}.<name>`, 'One of them.']] : []
    return [[`--${shown}`, text], ...free, ...memberRows(inner ?? [], `${shown}.`)]
  })
}
