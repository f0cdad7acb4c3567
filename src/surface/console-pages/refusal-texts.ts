import { newLinkRemedy } from '../../identity/people/index.ts'
import type { Language } from '../../web/language.ts'

const newLink: Readonly<Record<Language, string>> = {
  en: newLinkRemedy,
  de: 'In der Sandbox gibt agentpay login einen neuen aus; sonst fragen Sie einen Inhaber.',
}

const words: Readonly<Record<string, readonly [en: string, de: string]>> = {
  unauthenticated: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  ],
  wrong_caller: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  ],
  missing_scope: [
    'Your role does not allow this. Ask an owner of the account.',
    'Ihre Rolle erlaubt das nicht. Wenden Sie sich an einen Inhaber des Kontos.',
  ],
  passkey_required: [
    'This lets more be spent, changes who is paid or approves, or pays money back, so a passkey must sign it, and you have none yet. Create one, or ask an owner of the account for a link.',
    'Damit darf mehr ausgegeben werden, das Geld geht an jemand anderen oder wird zurückgezahlt, oder jemand anderes darf freigeben. Das muss ein Passkey signieren, und Sie haben noch keinen. Erstellen Sie einen, oder bitten Sie einen Inhaber des Kontos um einen Link.',
  ],
  too_much_to_sign: [
    'This lets more be spent by more rules than a person can read before signing. Change fewer at a time, or use a key.',
    'Damit darf nach mehr Regeln mehr ausgegeben werden, als ein Mensch vor der Signatur lesen kann. Ändern Sie weniger auf einmal, oder verwenden Sie einen Schlüssel.',
  ],
  account_suspended: [
    'This account is suspended. Contact the operator of the service.',
    'Dieses Konto ist gesperrt. Wenden Sie sich an den Betreiber des Dienstes.',
  ],
  cross_site: [
    'The request came from another site. Open this page directly and try again.',
    'Die Anfrage kam von einer anderen Website. Öffnen Sie diese Seite direkt und versuchen Sie es erneut.',
  ],
  rate_limited: [
    'Too many requests or invalid signatures from your IP address. Wait a few minutes and try again.',
    'Zu viele Anfragen oder ungültige Signaturen von Ihrer IP-Adresse. Warten Sie einige Minuten und versuchen Sie es erneut.',
  ],
  link_unknown: [`This link is not valid. ${newLink.en}`, `Dieser Link ist ungültig. ${newLink.de}`],
  link_used: [
    `This link has already been used. Sign in with your passkey. ${newLink.en}`,
    `Dieser Link wurde bereits verwendet. Melden Sie sich mit Ihrem Passkey an. ${newLink.de}`,
  ],
  link_expired: [`This link has expired. ${newLink.en}`, `Dieser Link ist abgelaufen. ${newLink.de}`],
  sign_in_unknown: [
    'This sign-in has ended, or it began in another browser. Start again.',
    'Diese Anmeldung ist beendet, oder sie begann in einem anderen Browser. Beginnen Sie von vorn.',
  ],
  identity_unproven: [
    'The answer of your identity provider could not be verified. Start again.',
    'Die Antwort Ihres Identitätsanbieters war nicht nachprüfbar. Beginnen Sie von vorn.',
  ],
  not_invited: [
    'You have no open invitation. Ask an owner of the account for a new one, to the email that your identity provider has verified.',
    'Sie haben keine offene Einladung. Bitten Sie einen Inhaber des Kontos um eine neue, an die E-Mail-Adresse, die Ihr Identitätsanbieter geprüft hat.',
  ],
  groups_unreadable: [
    'Your identity provider did not name your groups, on which your role depends. Use your passkey, or ask an owner of the account.',
    'Ihr Identitätsanbieter hat Ihre Gruppen nicht genannt, von denen Ihre Rolle abhängt. Verwenden Sie Ihren Passkey, oder fragen Sie einen Inhaber des Kontos.',
  ],
  provider_not_found: [
    'This way to sign in has been removed. Use your passkey, or ask an owner of the account.',
    'Diese Anmeldung wurde entfernt. Verwenden Sie Ihren Passkey, oder fragen Sie einen Inhaber des Kontos.',
  ],
  provider_incomplete: [
    'This way to sign in is not set up completely. An owner of the account must set its client ID.',
    'Diese Anmeldung ist noch nicht vollständig eingerichtet. Ein Inhaber des Kontos muss ihre Client-ID eintragen.',
  ],
  provider_busy: [
    'Many people are signing in with your identity provider at the moment. Start again in a moment.',
    'Bei Ihrem Identitätsanbieter melden sich gerade viele an. Beginnen Sie gleich noch einmal.',
  ],
  provider_silent: [
    'Your identity provider did not answer. Try again in a moment.',
    'Ihr Identitätsanbieter hat nicht geantwortet. Versuchen Sie es gleich noch einmal.',
  ],
  issuer_refused: [
    'The addresses of your identity provider cannot be used. Ask an owner of the account.',
    'Die Adressen Ihres Identitätsanbieters sind nicht verwendbar. Fragen Sie einen Inhaber des Kontos.',
  ],
  issuer_mismatch: [
    'Your identity provider now has another name. Ask an owner of the account.',
    'Ihr Identitätsanbieter nennt jetzt einen anderen Namen. Fragen Sie einen Inhaber des Kontos.',
  ],
  console_unavailable: [
    'Passkeys need an https address, or localhost. The operator of this service must set PUBLIC_URL.',
    'Passkeys benötigen eine https-Adresse oder localhost. Der Betreiber muss PUBLIC_URL setzen.',
  ],
  passkeys_unavailable: [
    'Passkeys need an https address, or localhost. The operator of this service must set PUBLIC_URL.',
    'Passkeys benötigen eine https-Adresse oder localhost. Der Betreiber muss PUBLIC_URL setzen.',
  ],
  assertion_required: [
    'A passkey of this account must confirm this. Press the button again.',
    'Ein Passkey dieses Kontos muss das bestätigen. Klicken Sie erneut auf den Button.',
  ],
  attestation_required: [
    'This needs a passkey. Press the button again.',
    'Dafür ist ein Passkey nötig. Klicken Sie erneut auf den Button.',
  ],
  assertion_malformed: [
    'The browser sent an invalid signature. Reload the page and try again.',
    'Der Browser hat eine ungültige Signatur gesendet. Laden Sie die Seite neu und versuchen Sie es erneut.',
  ],
  assertion_invalid: [
    'This passkey was not accepted. Try again, or use another one.',
    'Dieser Passkey wurde nicht akzeptiert. Versuchen Sie es erneut oder verwenden Sie einen anderen.',
  ],
  statement_outdated: [
    'The statement has changed since you signed it. Reload the page, read it and try again.',
    'Die Erklärung hat sich seit Ihrer Signatur geändert. Laden Sie die Seite neu, lesen Sie sie und versuchen Sie es erneut.',
  ],
  insufficient_role: [
    'The role of this passkey’s person does not allow this. Ask an owner of the account.',
    'Die Rolle der Person dieses Passkeys erlaubt das nicht. Wenden Sie sich an einen Inhaber des Kontos.',
  ],
  challenge_unknown: [
    'This signature belongs to another request. Press the button again.',
    'Diese Signatur gehört zu einer anderen Anfrage. Klicken Sie erneut auf den Button.',
  ],
  challenge_used: [
    'This signature has already been used. Check the present state, and press the button again if needed.',
    'Diese Signatur wurde bereits verwendet. Prüfen Sie den aktuellen Stand und klicken Sie bei Bedarf erneut auf den Button.',
  ],
  challenge_expired: [
    'Signing took longer than five minutes. Press the button again.',
    'Das Signieren hat länger als fünf Minuten gedauert. Klicken Sie erneut auf den Button.',
  ],
  owner_first: [
    'The first passkey of an account must belong to an owner. Ask an owner to create one, then come back.',
    'Der erste Passkey eines Kontos muss einem Inhaber gehören. Bitten Sie einen Inhaber, einen zu erstellen, und kommen Sie dann zurück.',
  ],
  enrolled_by_person: [
    'A policy asks this person besides others, so only they can create passkeys for themselves. Create a link for them on their page.',
    'Eine Richtlinie fragt diese Person neben anderen. Deshalb kann nur sie selbst Passkeys erstellen. Erstellen Sie auf ihrer Seite einen Link für sie.',
  ],
  recovery_needed: [
    'The last passkey of this account was revoked. Ask the operator of the service for account recovery.',
    'Der letzte Passkey dieses Kontos wurde widerrufen. Bitten Sie den Betreiber um eine Kontowiederherstellung.',
  ],
  person_not_active: [
    'You have not joined this account yet, or were removed. Open the link of your invitation.',
    'Sie sind diesem Konto noch nicht beigetreten oder wurden entfernt. Öffnen Sie den Link Ihrer Einladung.',
  ],
  too_many_passkeys: [
    'You have the maximum number of passkeys. Revoke one first.',
    'Sie haben die maximale Anzahl an Passkeys erreicht. Widerrufen Sie zuerst einen.',
  ],
  not_passkey_owner: [
    'This passkey belongs to another person. Only owners can change it.',
    'Dieser Passkey gehört einer anderen Person. Nur Inhaber können ihn ändern.',
  ],
  passkey_exists: [
    'This passkey already exists. Sign in with it.',
    'Dieser Passkey existiert bereits. Melden Sie sich damit an.',
  ],
  registration_malformed: [
    'The browser sent an invalid passkey. Reload the page and try again.',
    'Der Browser hat einen ungültigen Passkey gesendet. Laden Sie die Seite neu und versuchen Sie es erneut.',
  ],
  registration_invalid: [
    'The device did not verify you. Try again, or use another device.',
    'Das Gerät hat Sie nicht bestätigt. Versuchen Sie es erneut oder verwenden Sie ein anderes Gerät.',
  ],
  session_not_found: [
    'Your session has ended. Sign in again.',
    'Ihre Sitzung ist beendet. Melden Sie sich erneut an.',
  ],
  user_code_unknown: [
    'No device is waiting with this code. Compare it with the code on the device.',
    'Mit diesem Code wartet kein Gerät. Vergleichen Sie ihn mit dem Code auf dem Gerät.',
  ],
  user_code_expired: [
    'This code has expired after ten minutes. Start again on the device.',
    'Dieser Code ist nach zehn Minuten abgelaufen. Starten Sie auf dem Gerät neu.',
  ],
  too_many_guesses: [
    'Too many wrong codes. Wait ten minutes and check the code on the device.',
    'Zu viele falsche Codes. Warten Sie zehn Minuten und prüfen Sie den Code auf dem Gerät.',
  ],
  scope_not_held: [
    'Your role no longer has all of these permissions. Reload the page.',
    'Ihre Rolle hat nicht mehr alle diese Berechtigungen. Laden Sie die Seite neu.',
  ],
  pairing_not_found: [
    'No terminal is waiting with this code. Compare the address with the one in your terminal.',
    'Mit diesem Code wartet kein Terminal. Vergleichen Sie die Adresse mit der in Ihrem Terminal.',
  ],
  pairing_decided: [
    'This has already been decided, or the terminal has stopped waiting. Start again in the terminal.',
    'Darüber wurde bereits entschieden, oder das Terminal wartet nicht mehr. Starten Sie im Terminal neu.',
  ],
  pairing_expired: [
    'The code has expired after five minutes. Start again in the terminal.',
    'Der Code ist nach fünf Minuten abgelaufen. Starten Sie im Terminal neu.',
  ],
  intent_not_found: ['This intent no longer exists.', 'Diesen Intent gibt es nicht mehr.'],
  intent_not_waiting: [
    'This intent no longer waits for a decision.',
    'Dieser Intent wartet nicht mehr auf eine Entscheidung.',
  ],
  own_request: [
    'You have asked for this payment yourself. Other people must approve it.',
    'Sie haben diese Zahlung selbst angefragt. Andere müssen sie freigeben.',
  ],
  already_approved: [
    'Your approval, or that of the person whose deputy you are, is given. Other people must approve as well.',
    'Ihre Freigabe liegt vor, oder die der Person, die Sie vertreten. Andere müssen ebenfalls freigeben.',
  ],
  approver_not_asked: ['The policy does not ask you now.', 'Die Richtlinie fragt Sie derzeit nicht.'],
  intent_expired: [
    'This intent has expired. The agent can ask again.',
    'Dieser Intent ist abgelaufen. Der Agent kann erneut anfragen.',
  ],
  agent_not_active: [
    'The agent is frozen or being deleted. Unfreeze it first, or deny the payment.',
    'Der Agent ist eingefroren oder wird gelöscht. Heben Sie zuerst die Sperre auf oder lehnen Sie die Zahlung ab.',
  ],
  request_expired: [
    'This request is older than an hour, or not yours. Start again in the assistant.',
    'Diese Anfrage ist älter als eine Stunde oder nicht Ihre. Beginnen Sie im Assistenten neu.',
  ],
  owner_needed: [
    'Only an owner of the account can connect an assistant.',
    'Nur ein Inhaber des Kontos kann einen Assistenten verbinden.',
  ],
  agent_not_found: [
    'This agent does not exist any more. Reload the page and choose another one.',
    'Diesen Agenten gibt es nicht mehr. Laden Sie die Seite neu und wählen Sie einen anderen.',
  ],
  external_id_taken: [
    'An agent with this external ID exists already. Choose that agent.',
    'Einen Agenten mit dieser externen ID gibt es bereits. Wählen Sie ihn.',
  ],
  unknown_approver: [
    'This policy asks a person who is no longer in the account. Choose another one, or take the person out of it first.',
    'Diese Richtlinie fragt eine Person, die nicht mehr zum Konto gehört. Wählen Sie eine andere, oder nehmen Sie die Person zuerst heraus.',
  ],
  approval_needed: [
    'Policies of this account ask several people, and a new agent has to begin with such a policy. Choose an agent, or create one with such a policy first.',
    'Richtlinien dieses Kontos fragen mehrere Personen, und ein neuer Agent muss mit einer solchen beginnen. Wählen Sie einen Agenten, oder legen Sie zuerst einen mit einer solchen Richtlinie an.',
  ],
  too_few_approvers: [
    'This policy asks for more people than can approve. Choose another one, or invite more people first.',
    'Diese Richtlinie fragt mehr Personen, als freigeben können. Wählen Sie eine andere, oder laden Sie zuerst weitere ein.',
  ],
  expires_too_early: [
    'The end is already over. Reload the page and try again.',
    'Das Ende ist bereits vorbei. Laden Sie die Seite neu und versuchen Sie es erneut.',
  ],
  expires_too_late: [
    'The end is more than a year ahead. Choose an earlier one.',
    'Das Ende liegt mehr als ein Jahr voraus. Wählen Sie ein früheres.',
  ],
  too_many_mandates: [
    'This agent has too many open mandates. Revoke one, or choose another agent.',
    'Dieser Agent hat zu viele offene Mandate. Widerrufen Sie eines oder wählen Sie einen anderen Agenten.',
  ],
  insufficient_funds: [
    'The agent’s wallet does not have enough money. Fund it, or deny the payment.',
    'Das Wallet des Agenten ist nicht gedeckt. Zahlen Sie Geld ein oder lehnen Sie die Zahlung ab.',
  ],
  wallet_frozen: [
    'The agent’s wallet is frozen. Unfreeze it first, or deny the payment.',
    'Das Wallet des Agenten ist eingefroren. Heben Sie zuerst die Sperre auf oder lehnen Sie die Zahlung ab.',
  ],
  run_ended: [
    'The run has ended and can spend no more. Deny the payment.',
    'Der Lauf ist beendet und kann nichts mehr ausgeben. Lehnen Sie die Zahlung ab.',
  ],
  delegation_over: [
    'The delegation has ended and can spend no more. Deny the payment.',
    'Die Delegation ist beendet und kann nichts mehr ausgeben. Lehnen Sie die Zahlung ab.',
  ],
  card_closed: [
    'The card is closed. Deny the payment.',
    'Die Karte ist geschlossen. Lehnen Sie die Zahlung ab.',
  ],
  card_of_other_intent: [
    'The card was issued for another intent. Deny the payment.',
    'Die Karte wurde für einen anderen Intent ausgestellt. Lehnen Sie die Zahlung ab.',
  ],
  against_policy: [
    'The agent’s policy does not allow this now. Change the policy, or deny the payment.',
    'Die Richtlinie des Agenten erlaubt das derzeit nicht. Ändern Sie die Richtlinie oder lehnen Sie die Zahlung ab.',
  ],
  busy: [
    'The service is busy. Try again in a moment.',
    'Der Dienst ist ausgelastet. Versuchen Sie es gleich erneut.',
  ],
  unavailable: [
    'The service is temporarily unavailable. Try again in a minute.',
    'Der Dienst ist vorübergehend nicht verfügbar. Versuchen Sie es in einer Minute erneut.',
  ],
  outcome_unknown: [
    'The outcome is not known yet. Reload the page and check.',
    'Das Ergebnis ist noch nicht bekannt. Laden Sie die Seite neu und prüfen Sie es.',
  ],
  internal: [
    'Something went wrong on our side. Reload the page and check the present state.',
    'Bei uns ist ein Fehler aufgetreten. Laden Sie die Seite neu und prüfen Sie den aktuellen Stand.',
  ],
}

export const refusalTexts = (language: Language): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(words).map(([code, [en, de]]) => [code, language === 'de' ? de : en]))
