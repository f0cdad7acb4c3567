import { readFileSync } from 'node:fs'
import type { CommandDefinition, CommandNoun } from '../derive/commands/table.ts'

export type {
  BodyMember,
  BodyShape,
  CommandDefinition,
  CommandNoun,
  CommandParameter,
  ValueShape,
} from '../derive/commands/table.ts'

/**
 * The table of commands. Each operation is a line of its file, and only requested lines are decoded: parsing
 * all of it would take longer than the rest of the start.
 */
export class CommandTableFile {
  readonly #bytes: Buffer
  #nouns: Readonly<Record<string, CommandNoun>> | undefined

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get version(): string {
    return JSON.parse(this.#line('version', 0)) as string
  }

  get nouns(): Readonly<Record<string, CommandNoun>> {
    this.#nouns ??= JSON.parse(this.#block('nouns')) as Record<string, CommandNoun>
    return this.#nouns
  }

  get eventNames(): Readonly<Record<string, string>> {
    return JSON.parse(this.#block('eventNames')) as Record<string, string>
  }

  find(key: string): CommandDefinition | undefined {
    if (!/^\w+\.\w+$/.test(key)) return undefined
    const line = this.#line(key, this.#bytes.indexOf('\n"operations": {\n'))
    return line === '' ? undefined : (JSON.parse(line) as CommandDefinition)
  }

  get(key: string): CommandDefinition {
    const command = this.find(key)
    if (!command) throw new Error(`There is no operation ${key}.`)
    return command
  }

  #line(name: string, from: number): string {
    const start = `\n${JSON.stringify(name)}: `
    const at = this.#bytes.indexOf(start, from)
    if (at < 0) return ''
    return this.#textBetween(at + start.length, this.#bytes.indexOf('\n', at + 1)).replace(/,$/, '')
  }

  #block(name: string): string {
    const start = `\n${JSON.stringify(name)}: `
    const at = this.#bytes.indexOf(start) + start.length
    return this.#textBetween(at, this.#bytes.indexOf('\n}', at) + 2)
  }

  #textBetween(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to)
  }
}

export const readCommandDefinitions = (): CommandTableFile =>
  new CommandTableFile(readFileSync(new URL('../../commands.json', import.meta.url)))
