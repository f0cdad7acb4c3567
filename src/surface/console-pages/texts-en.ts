/** What the pages say, in English: the other language has the same members. */
export const english = {
  frame: {
    brand: 'Agent Payments',
    skip: 'Skip to the content',
    signOut: 'Sign out',
    roles: { owner: 'Owner', approver: 'Approver', viewer: 'Viewer' },
    test: 'This is a test: no real money is meant.',
    noScript: 'Passkeys need JavaScript. Switch it on for this site, and load the page again.',
    incomplete: 'Part of this page did not arrive: load it again. What you have pressed was not done.',
    otherHostTitle: 'Please open this page elsewhere',
    otherHost: (host: string) =>
      `Passkeys belong to one address. Here that is ${host}, and you have opened another one.`,
    otherHostLink: 'Open this page there',
    noPasskeysTitle: 'No passkeys here',
    noPasskeys:
      'Passkeys need an address that begins with https, or localhost. Whoever runs this service has to set PUBLIC_URL to one.',
    home: 'What waits for a decision',
  },
  signIn: {
    title: 'Sign in',
    lead: 'Use your fingerprint, face or PIN. It never leaves your device.',
    button: 'Sign in with a passkey',
    linkTitle: 'Sign in with your link',
    linkLead: 'The link works once. It is used when you press the button, not before.',
    linkButton: 'Use the link and sign in',
    other: 'You have no passkey here, or have lost it? Ask an owner of the account for a link.',
    // For who has started the service: the sentence ends with `recovery`, which is a link.
    own: 'You have started this service yourself? While nobody has a passkey, npm start prints a link each time, and agentpay login gives one. After that there is',
    recovery: 'the recovery',
  },
  join: {
    title: 'Join',
    lead: 'You have been given a link to this account. It works once. It is used when you press the button, not before.',
    button: 'Use the link',
    passkeyTitle: 'Create your passkey',
    passkeyLead:
      'With it you sign in and approve payments. It stays on your device or in your password manager, and is opened by your finger, your face or your PIN.',
    passkeyName: 'Name of the passkey',
    passkeyNameHint: 'By it you find the passkey again, should you lose the device.',
    passkeyDefault: 'My first device',
    passkeyButton: 'Create a passkey',
    noLink:
      'This page needs a link that an owner of the account or the operator has given you. Open that link again, or sign in.',
  },
  approve: {
    marks: {
      created: 'Waits for a decision',
      approved: 'Approved',
      denied: 'Denied',
      cancelled: 'Cancelled',
      expired: 'Expired',
      completed: 'Paid',
    },
    to: 'to',
    purpose: 'For',
    decideBy: 'Decide by',
    decide: 'Your decision',
    youSign: 'With your passkey you sign:',
    noPasskey:
      'You have no passkey yet, and only a passkey approves here. Create one: then you are back on this page.',
    approve: 'Approve with passkey',
    deny: 'Deny',
    reason: 'Reason to deny it',
    mayNot: (role: string) =>
      `You may look at this, but not decide it: your role is ${role}. Ask an owner or an approver.`,
    details: 'Details',
    payee: 'Payee',
    ways: {
      merchant: 'A merchant, as the agent names it',
      beneficiary: 'A stored beneficiary, by SEPA',
      wallet: 'A wallet of this account',
      request: 'A payment request',
      token: 'A payment token',
    },
    atMost: 'At most',
    atMostHint: 'The policy allows that more is charged than the agent asks for, up to this amount.',
    agent: 'Agent',
    run: 'Run',
    account: 'Account',
    asked: 'Asked at',
    reasons: 'Why a person is asked',
    obstacles: 'What stands against it at this moment',
    notices: 'What holds up the payment',
    limits: 'What is left of each limit',
    noLimits: 'No limit applies.',
    // A limit per payment, which is never used up.
    each: (limit: string) => `${limit} at most`,
    left: (remaining: string, limit: string) => `${remaining} of ${limit} left`,
    leftMinutes: (remaining: number) => (remaining === 1 ? '1 minute left' : `${remaining} minutes left`),
    leftCount: (remaining: number, limit: number) => `${remaining} of ${limit} payments left`,
    ends: {
      approved: (by: string, at: string) =>
        `Approved by ${by}, ${at}. The money is held until the agent pays.`,
      denied: (by: string, at: string) => `Denied by ${by}, ${at}. Nothing is paid.`,
      cancelled: (_: string, at: string) => `Cancelled, ${at}. Nothing is paid.`,
      expired: (_: string, at: string) => `The time ended without a payment, ${at}. The agent may ask again.`,
      completed: (by: string, at: string) => `Approved by ${by}, ${at}, and paid since then.`,
    },
    comment: 'What was said',
    payments: {
      under_way: 'A payment on it is under way.',
      completed: 'The payment has been made.',
      rejected: 'The payment was rejected, and the money is back.',
      returned: 'The payment came back.',
      cancelled: 'A payment on it was cancelled before it had left.',
    },
    // Where another sum was paid than the one that was approved.
    paid: (sum: string, approved: string) => `${sum} has been paid of the ${approved} that was approved.`,
    proof: 'Proof of the approval',
    proofLink: 'Open the proof',
    proofHint: 'Anybody who has our public keys can verify it without asking us.',
    deciders: {
      policy: 'the policy',
      key: 'an API key',
      operator: 'the operator',
      mandate: 'a mandate',
    },
    unknown: 'No such intent',
    unknownHint:
      'Compare the address with the one that you were given. It may belong to another account, or to the other mode.',
  },
  waiting: {
    title: 'What waits for a decision',
    lead: 'Agents ask for these payments. The newest come first.',
    none: 'Nothing waits for a decision.',
    more: 'There are more. The next ones show when some of these are decided.',
    until: 'until',
  },
  device: {
    title: 'Let a device in',
    lead: 'A device of yours shows a code of eight letters. Type it here, and look whether it is your device.',
    code: 'Code of the device',
    codeHint: 'Capitals, hyphens and spaces do not matter.',
    look: 'Look',
    question: 'Let this device in?',
    onlyIf:
      'Go on only if you have just begun this yourself, on a device that shows this code. Otherwise somebody else wants to get in: turn it away.',
    details: 'Who asks',
    name: 'Device, by its own account',
    type: 'Kind',
    types: {
      sdk: 'A program',
      cli: 'A command line',
      mcp: 'A server of tools (MCP)',
      api: 'A service',
      browser: 'A browser',
      other: 'Something else',
    },
    id: 'Its id',
    shows: 'It shows',
    address: 'From the address',
    asked: 'Asked at',
    bound: 'Its key works on this device alone.',
    toolWrites:
      'Its key lets assistants change things, and not only propose them: whatever a model reads could then make it spend. If you have not asked for that, turn it away.',
    rights: 'What it will be allowed',
    lasts: 'For ninety days at most, and no longer than thirty without a use. You can end it before.',
    scopes: 'scopes',
    withheld: 'It also asks for what your role does not have, and does not get it:',
    approve: 'Let in with passkey',
    deny: 'Turn away',
    approved: 'The device is let in',
    approvedHint: 'Go back to it: it fetches its key by itself. You can close this page.',
    denied: 'The device was turned away',
    deniedHint: 'It gets nothing. You can close this page.',
  },
  pairing: {
    title: 'Let a command line in?',
    lead: 'A terminal asks for a key to this account. It shows a code: compare it with this one.',
    codeIs: 'The code is',
    onlyIf:
      'Go on only if you have just begun this yourself, and your terminal shows the same code. Otherwise somebody else wants to get in: turn it away.',
    marks: {
      pending: 'Waits for you',
      approved: 'Let in',
      denied: 'Turned away',
      paired: 'Let in',
      void: 'Ended',
      expired: 'Expired',
    },
    ended: {
      approved: 'The command line is let in',
      denied: 'The command line was turned away',
      paired: 'The command line is let in',
      void: 'This code has ended',
      expired: 'This code has expired',
    },
    hints: {
      approved: 'Go back to your terminal: it fetches its key by itself. You can close this page.',
      denied: 'The terminal gets nothing. You can close this page.',
      paired:
        'It has its key, which you find among the keys by the name of the device. To take it back, revoke that key.',
      void: 'Somebody who did not begin it asked for its key, so nobody gets one. Begin again in your terminal.',
      expired: 'A code lives for five minutes. Begin again in your terminal.',
    },
    details: 'Who asks',
    device: 'Device, by its own account',
    address: 'From the address',
    asked: 'Asked at',
    until: 'Until',
    rights: 'May do',
    allRights: 'Everything that you may, as an owner of the account',
    rightsOf: (role: string) => `What you may as ${role}`,
    whichRights: (count: number) => `These ${count} scopes`,
    toolWrites:
      'Its key lets assistants change things, and not only propose them: whatever a model reads could then make it spend. If you have not asked for that, turn it away.',
    approve: 'Let in with passkey',
    deny: 'Turn away',
    unknown: 'No such code',
    unknownHint:
      'Compare the address with the one that your terminal shows, or begin again there: old codes are forgotten.',
  },
  script: {
    letIn: 'Done. Go back to your device.',
    wait: 'One moment …',
    touch: 'Your device asks for your passkey.',
    approved: 'Approved. Your signature is kept as the proof.',
    denied: 'Denied. Nothing is paid.',
    changed: 'This has been decided meanwhile.',
    readAgain: 'What you would sign has changed. Please read it again, and then approve it.',
    joined: 'Welcome. Now create your passkey.',
    enrolled: 'Your passkey is there.',
    unsupported: 'This browser knows no passkeys. Use a current one.',
    notAllowed:
      'Your device did not confirm that it is you, or you have stopped it. Nothing was done: try again.',
    enrolledAlready: 'This device has a passkey of yours already. Sign in with it.',
    noPasskey: 'You have no passkey yet. Create one, and then decide.',
    noPasskeyHere: 'You have no passkey yet. Create one: it leads you back here.',
    paired: 'Done. Go back to your terminal.',
    turnedAway: 'Turned away. The terminal gets nothing.',
    offline: 'The service did not answer. Look whether you are online, and try again.',
    other: 'That did not work:',
  },
}

export type Texts = typeof english
export type ApproveTexts = Texts['approve']

/** How an intent stands for the person who looks at it. */
export type ApprovalState = keyof ApproveTexts['marks']

/** How a terminal that asks for a key stands for the person who looks at its page. */
export type PairingState = keyof Texts['pairing']['marks']

export type Role = keyof Texts['frame']['roles']
