import { keysOf } from '../../values/collections.ts'

export interface StateMachine<State extends string> {
  readonly name: string
  readonly states: readonly [State, ...State[]]
  readonly initial: State
  readonly table: Readonly<Record<State, readonly State[]>>
  can(from: State, to: State): boolean
  isFinal(state: State): boolean
  /** The only writer of a status. Returns false and writes nothing where the table has no such step. */
  move(record: { readonly status: State }, to: State): boolean
}

/** A noun's states and the steps between them. A record begins in the first state. */
export function stateMachine<const State extends string>(
  name: string,
  table: Record<State, readonly NoInfer<State>[]>,
): StateMachine<State> {
  const states = keysOf(table)
  const can = (from: State, to: State): boolean => table[from].includes(to)
  return {
    name,
    table,
    states,
    initial: states[0],
    can,
    isFinal: state => table[state].length === 0,
    move(record, to) {
      if (!can(record.status, to)) return false
      Object.assign(record, { status: to })
      return true
    },
  }
}
