/** The header `Link` of a refusal that names the challenge that a passkey must sign (RFC 8288). */
export const challengeLink = (id: string): string => `</passkeys/challenges/${id}>; rel="challenge"`

export const linkedChallengeId = (link: string | null | undefined): string | undefined =>
  /<\/passkeys\/challenges\/(\w+)>; rel="challenge"/.exec(link ?? '')?.[1]
