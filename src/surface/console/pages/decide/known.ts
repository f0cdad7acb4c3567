import type { Html } from '../../../../web/html.ts'

/** A line of facts, left out where nothing is known. */
export const known = (
  name: string,
  value: unknown,
  shown: () => Html,
): readonly (readonly [name: string, value: Html])[] =>
  value === null || value === undefined ? [] : [[name, shown()]]
