import { readFileSync } from 'node:fs'
import type { Command, Noun } from '../derive/commands/table.ts'

export type { BodyShape, Command, Member, Noun, Parameter, Shape } from '../derive/commands/table.ts'

/**
 * The table of commands. Each operation is a line of its file, and only the lines that are asked for are parsed: the
 * whole would take longer than the rest of the start.
 */
export class Table {
  readonly #text: string
  #nouns: Readonly<Record<string, Noun>> | undefined

  constructor(text: string) {
    this.#text = text
  }

  get version(): string {
    return JSON.parse(this.#line('version', 0)) as string
  }

  get nouns(): Readonly<Record<string, Noun>> {
    this.#nouns ??= JSON.parse(this.#block('nouns')) as Record<string, Noun>
    return this.#nouns
  }

  /** The operation with this key, such as `intents.create`. */
  find(key: string): Command | undefined {
    if (!/^\w+\.\w+$/.test(key)) return undefined
    const line = this.#line(key, this.#text.indexOf('\n"operations": {\n'))
    return line === '' ? undefined : (JSON.parse(line) as Command)
  }

  get(key: string): Command {
    const command = this.find(key)
    if (!command) throw new Error(`There is no operation ${key}.`)
    return command
  }

  #line(name: string, from: number): string {
    const start = `\n${JSON.stringify(name)}: `
    const at = this.#text.indexOf(start, from)
    if (at < 0) return ''
    return this.#text.slice(at + start.length, this.#text.indexOf('\n', at + 1)).replace(/,$/, '')
  }

  #block(name: string): string {
    const start = `\n${JSON.stringify(name)}: `
    const at = this.#text.indexOf(start) + start.length
    return this.#text.slice(at, this.#text.indexOf('\n}', at) + 2)
  }
}

/** The table of this version, as `npm run openapi` wrote it. */
export const readTable = (): Table =>
  new Table(readFileSync(new URL('../../commands.json', import.meta.url), 'utf8'))
