type Group = 'agent' | 'merchant' | 'mcc' | 'run' | `label:${string}`

/**
 * What the sums are divided by; `label:` goes before a key of the metadata of intents. `kept_back` has what was not spent,
 * and `refused:merchant` what of it was refused, by merchant, and `completed:` the number of completed intents, on the days on which they were declared.
 */
export type View = Group | 'wallet' | 'type' | 'kept_back' | 'refused:merchant' | `completed:${Group}`
