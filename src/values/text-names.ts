/** Names for the free text about a decision. An operation that takes one of the first two takes the other as well. */
export const INTERCHANGEABLE_TEXT_NAMES: readonly string[] = ['reason', 'comment']

/** Callers confuse these names, since operations use different ones for a reason. */
export const TEXT_NAMES: readonly string[] = [...INTERCHANGEABLE_TEXT_NAMES, 'note', 'memo', 'message']

export const otherTextName = (name: string): string | undefined =>
  INTERCHANGEABLE_TEXT_NAMES.includes(name)
    ? INTERCHANGEABLE_TEXT_NAMES.find(other => other !== name)
    : undefined
