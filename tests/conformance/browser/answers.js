/** Answer every question of a campaign with the value that is given for it, and send. Return how many were sent, and what happened otherwise. */
export async function answerAll({ Device, fetchCampaign, memoryStore }, address, key, values) {
  const campaign = await fetchCampaign(address, key);
  const device = await Device.open({ epsilon: 1000, store: memoryStore(), policy: { epsilon: 5 } });
  const inquiries = Object.values(campaign.questions).map((asked) => device.asking(...asked));
  const outcomes = {};
  for (const inquiry of inquiries) {
    const { is, reason } = await device.answer(inquiry, values[inquiry.terms.name]);
    if (is !== "drawn") outcomes[inquiry.terms.name] = reason ?? is;
  }
  const { sent, waiting, refused } = await device.send(inquiries, `${address}/batches`);
  return { sent, waiting, refused, outcomes, unanswered: campaign.unanswered };
}
