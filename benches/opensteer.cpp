// CPU time of a step of the Boids workload with OpenSteer and its LQ database, as the peer of `cargo bench --bench flocking`.
//
//   g++ -O3 -DNDEBUG -DNO_LQ_BIN_STATS -I OPENSTEER/include benches/opensteer.cpp OPENSTEER/src/{Color,SimpleVehicle,Vec3,Vec3Utilities}.cpp \
//       -x c++ OPENSTEER/src/lq.c -o opensteer
//   opensteer STATE.bin
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "OpenSteer/Proximity.h"
#include "OpenSteer/SimpleVehicle.h"

using namespace OpenSteer;

// What OpenSteer draws and asks of its demo; nothing here.
bool OpenSteer::enableAnnotation = false;
bool OpenSteer::drawPhaseActive = false;
void OpenSteer::drawLine(const Vec3&, const Vec3&, const Color&) {}
void OpenSteer::deferredDrawLine(const Vec3&, const Vec3&, const Color&) {}
void OpenSteer::deferredDrawCircleOrDisk(float, const Vec3&, const Vec3&, const Color&, int, bool, bool) {}

typedef AbstractProximityDatabase<AbstractVehicle*> Database;

struct Boid : SimpleVehicle {
    AbstractTokenForProximityDatabase<AbstractVehicle*>* token = nullptr;
    void update(float, float) override {}
    void regenerateLocalSpace(const Vec3& velocity, float dt) override { regenerateLocalSpaceForBanking(velocity, dt); }
};

int main(int count, char** arguments) {
    if (count != 2) return 2;
    std::ifstream file(arguments[1], std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::uint32_t boids = 0;
    float radius = 0;
    if (bytes.size() < 8) return 1;
    std::memcpy(&boids, &bytes[0], 4);
    std::memcpy(&radius, &bytes[4], 4);
    std::vector<float> state(boids * 13);
    if (bytes.size() != 8 + state.size() * 4) return 1;
    std::memcpy(state.data(), &bytes[8], state.size() * 4);
    // The lattice of the Boids plug-in.
    const float side = radius * 1.1f * 2;
    LQProximityDatabase<AbstractVehicle*> database(Vec3::zero, Vec3(side, side, side), Vec3(10, 10, 10));
    std::vector<std::unique_ptr<Boid>> flock;
    for (std::uint32_t i = 0; i < boids; i++) {
        const float* s = &state[i * 13];
        flock.emplace_back(new Boid);
        Boid& boid = *flock.back();
        boid.reset();
        boid.setMaxForce(27);
        boid.setMaxSpeed(9);
        boid.setPosition(s[0], s[1], s[2]);
        boid.setForward(s[3], s[4], s[5]);
        boid.setUp(s[6], s[7], s[8]);
        boid.setUnitSideFromForwardAndUp();
        boid.setSpeed(s[9]);
        boid.token = database.allocateToken(&boid);
        boid.token->updateForNewPosition(boid.position());
    }
    AVGroup near;
    const auto step = [&] {
        for (auto& each : flock) {
            Boid& boid = *each;
            near.clear();
            boid.token->findNeighbors(boid.position(), 9, near);
            const Vec3 force = boid.steerForSeparation(5, -0.707f, near) * 12 + boid.steerForAlignment(7.5f, 0.7f, near) * 8 +
                               boid.steerForCohesion(9, -0.15f, near) * 8;
            boid.applySteeringForce(force, 1.0f / 60);
            if (boid.position().length() > radius) boid.setPosition(boid.position().sphericalWrapAround(Vec3::zero, radius));
            boid.token->updateForNewPosition(boid.position());
        }
    };
    const int steps = std::min(std::max(30000 / int(boids), 1), 100);
    double least = 1e9;
    for (int series = 0; series < 20; series++) {
        const std::clock_t start = std::clock();
        for (int i = 0; i < steps; i++) step();
        least = std::min(least, double(std::clock() - start) / CLOCKS_PER_SEC * 1e3 / steps);
    }
    std::printf("%.4f\n", least);
}
